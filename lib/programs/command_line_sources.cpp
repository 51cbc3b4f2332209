#include "programs/command_line_sources.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "base/log.h"

namespace eflops::programs {
namespace {

constexpr std::string_view kPrefix = "EFLOPS_";
constexpr std::array<std::string_view, 4> kReserved{"EFLOPS_DATA", "EFLOPS_CONFIG_PATH", "EFLOPS_BIN_DIR",
                                                    "EFLOPS_SOURCE_DIR"};

bool is_reserved(std::string_view name) { return std::ranges::find(kReserved, name) != kReserved.end(); }

std::vector<std::string> elements(const std::vector<std::string>& values) {
  std::vector<std::string> all;
  for (const std::string& value : values)
    for (std::string& part : split_list(value)) all.push_back(std::move(part));
  return all;
}

}  // namespace

std::string environment_name(const std::string& path) {
  std::string name(kPrefix);
  for (const char letter : path)
    name += letter == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return is_reserved(name) ? "" : name;
}

std::string full_program_name(const std::string& written) {
  return written.starts_with("eflops-") ? written : "eflops-" + written;
}

std::vector<Assignment> environment_assignments(const FlagTable& table) {
  std::map<std::string, const FieldDescription*> known;
  std::vector<std::string> names;
  for (const FieldDescription& field : table.fields()) {
    const std::string name = environment_name(field.path);
    if (name.empty()) continue;
    EFLOPS_CHECK(known.try_emplace(name, &field).second, "{} names two options", name);
    names.push_back(name);
  }
  std::vector<Assignment> assignments;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    const std::string name(text.substr(0, equals));
    if (is_reserved(name)) continue;
    const auto found = known.find(name);
    if (found == known.end()) {
      const std::string guess = nearest(name, names);
      log::warning("{} is set but names no option here{}", name, guess.empty() ? "" : "; did you mean " + guess + "?");
      continue;
    }
    const bool is_list = found->second->type == "list of text";
    const std::string value(text.substr(equals + 1));
    assignments.push_back({.path = found->second->path,
                           .values = is_list ? split_list(value) : std::vector<std::string>{value},
                           .is_list = is_list,
                           .source = "environment " + name});
  }
  std::ranges::sort(assignments, {}, &Assignment::path);  // errors do not depend on the order of the environment
  return assignments;
}

std::vector<Assignment> flag_assignments(const FlagTable& table, const ParsedWords& parsed, const StrictWords& words) {
  std::vector<Assignment> assignments;
  for (const FieldDescription& field : table.fields()) {
    const auto found = parsed.find("--" + field.path);
    if (found == parsed.end() || found->second.empty()) continue;
    const bool is_list = field.type == "list of text";
    const std::string& spelled = words.spelled.at(field.path);
    assignments.push_back({.path = field.path,
                           .values = is_list ? elements(found->second) : std::vector{found->second.back()},
                           .is_list = is_list,
                           .source = (spelled[0] == '-' ? "flag " : "argument ") + spelled});
  }
  return assignments;
}

void check_program(const config::YamlFile& file, const Program& program, const Verb& verb) {
  if (file.program.empty()) return;
  const std::string named = full_program_name(file.program);
  if (named == full_name(program, verb) || named == program.name) return;
  throw ConfigError("{}: program: is '{}', but this is '{}'", file.program_source, file.program,
                    full_name(program, verb));
}

std::map<std::string, std::string> assign_all(const OptionSet& options, const std::vector<config::YamlFile>& files,
                                              const std::vector<Assignment>& environment,
                                              const std::vector<Assignment>& flags) {
  std::map<std::string, std::string> sources;
  const auto assign_each = [&](const std::vector<Assignment>& assignments) {
    for (const Assignment& assignment : assignments) {
      assign(options, assignment);
      sources[assignment.path] = assignment.source;
    }
  };
  for (const config::YamlFile& file : files) assign_each(file.assignments);
  assign_each(environment);
  assign_each(flags);
  return sources;
}

}  // namespace eflops::programs
