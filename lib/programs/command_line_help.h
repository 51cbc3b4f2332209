#pragma once

#include <string>

#include "base/json.h"
#include "programs/command_line_flags.h"
#include "programs/program.h"

namespace eflops::programs {

/// The text of --help for a program: its verbs, and the flags of the verb without a name where there is one.
std::string program_help(const Program& program);
/// The text of --help for one verb: usage, every flag in its group, examples, exit codes.
std::string verb_help(const Program& program, const Verb& verb);

/// The text of --describe: every option with type, default, unit, range, meaning, spellings and environment variable.
std::string describe_text(const Program& program, const std::vector<const Verb*>& verbs);
/// The same as JSON: {"program", "verbs": [{"verb", "help", "options": [{"path", "type", "default", …}]}]}.
Json describe_json(const Program& program, const std::vector<const Verb*>& verbs);

}  // namespace eflops::programs
