#include "apps/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "programs/command_line.h"

namespace eflops::apps {
namespace {

// The words are in strict form (programs/command_line_flags.h): every name is followed by its one value, which is taken
// as it is, whatever it begins with.
programs::ParsedWords parse(const std::vector<std::string>& names, std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  std::vector<CLI::Option*> options;
  for (const std::string& name : names)
    options.push_back(app.add_option(name)
                          ->expected(1)
                          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                          ->allow_extra_args(false));
  std::ranges::reverse(words);  // CLI11 takes the last word first
  try {
    app.parse(words);
  } catch (const CLI::Error& error) {
    throw ConfigError("{}", error.what());
  }
  programs::ParsedWords parsed;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!options[i]->empty()) parsed[names[i]] = options[i]->results();
  return parsed;
}

}  // namespace

int run_program(const programs::Program& program, int argc, char** argv) {
  return programs::run_main(program, {argv + std::min(argc, 1), argv + argc}, parse);
}

}  // namespace eflops::apps
