#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/options.h"
#include "config/yaml_file.h"
#include "programs/command_line_flags.h"
#include "programs/program.h"

namespace eflops::programs {

/// Values of the strict form by name with dashes: "--optimizer.learning_rate" → every value given, in order.
using ParsedWords = std::map<std::string, std::vector<std::string>>;

/// Name of the environment variable of an option: "optimizer.learning_rate" → "EFLOPS_OPTIMIZER_LEARNING_RATE"; ""
/// where that name is reserved for something else (EFLOPS_DATA, EFLOPS_CONFIG_PATH, EFLOPS_BIN_DIR, EFLOPS_SOURCE_DIR).
std::string environment_name(const std::string& path);

/// What an experiment file's `program:` means, spelled as ours: "pretrain" is "eflops-pretrain".
std::string full_program_name(const std::string& written);

/// Assignments of the EFLOPS_* variables of this process. An unknown one is warned about once, with the nearest known.
std::vector<Assignment> environment_assignments(const FlagTable& table);

/// Assignments of the flags and bare `a.b=c` words. Lists are split at commas, and a repeated flag adds to its list; of
/// a repeated other flag the last one counts.
std::vector<Assignment> flag_assignments(const FlagTable& table, const ParsedWords& parsed, const StrictWords& words);

/// ConfigError when the file is for another program or another verb.
void check_program(const config::YamlFile& file, const Program& program, const Verb& verb);

/// Assigns defaults < files < environment < flags, each in order, and returns where each value came from.
std::map<std::string, std::string> assign_all(const OptionSet& options, const std::vector<config::YamlFile>& files,
                                              const std::vector<Assignment>& environment,
                                              const std::vector<Assignment>& flags);

}  // namespace eflops::programs
