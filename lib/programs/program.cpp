#include "programs/program.h"

#include <algorithm>

namespace eflops::programs {

std::string Invocation::source_of(const std::string& path) const {
  const auto found = sources.find(path);
  return found == sources.end() ? "default" : found->second;
}

std::string full_name(const Program& program, const Verb& verb) {
  return verb.name.empty() ? program.name : program.name + " " + verb.name;
}

const Verb* find_verb(const Program& program, std::string_view name) {
  std::string wanted(name);
  std::ranges::replace(wanted, '_', '-');
  const auto found = std::ranges::find(program.verbs, wanted, &Verb::name);
  return found == program.verbs.end() ? nullptr : &*found;
}

}  // namespace eflops::programs
