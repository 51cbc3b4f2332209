#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/options.h"

/// How a program is added, in full:
///
///   1. lib/programs/train_lamp.h and .cpp: `struct LampOptions { …; void visit_fields(OptionVisitor&); };` and
///      `void run_lamp(const LampOptions&, const Invocation&);`. Results go to stdout, records to a file, logs to
///      stderr; what goes wrong is thrown as ConfigError, DataError … (base/error.h).
///   2. apps/eflops_lamp.cpp:
///        int main(int argc, char** argv) {
///          eflops::programs::LampOptions options;
///          return eflops::apps::run_program(
///              {.name = "eflops-lamp",
///               .help = "one line",
///               .verbs = {{.options = eflops::OptionSet(options),
///                          .run = [&](const auto& call) { run_lamp(options, call); }}}},
///              argc, argv);
///        }
///   3. apps/CMakeLists.txt: `eflops_program(NAME eflops-lamp SOURCES eflops_lamp.cpp LIBRARIES eflops_apps)`.
///   4. docs/eflops-lamp.md, whose examples the tests run.
///
/// Flags, `--config`, EFLOPS_* variables, --help, --describe, --dump-config, --dry-run and exit codes follow from that.
namespace eflops::programs {

/// One call of a verb, after its options were resolved.
struct Invocation {
  std::string program;  ///< "eflops-data shard": what `program:` in an experiment file says
  std::string command;  ///< the command line as a shell would take it again
  OptionSet options;
  std::map<std::string, std::string> sources;  ///< path → where its value came from; absent for defaults

  /// "default", "flag --lr", "run.yaml:12", "environment EFLOPS_SEED".
  std::string source_of(const std::string& path) const;
};

using Action = std::function<void(const Invocation&)>;

/// One job of a program. The options struct behind `options` must outlive it.
struct Verb {
  std::string name = "";  ///< empty: the job done when no verb is given
  std::string help = "";  ///< one line
  OptionSet options;
  Action run;
  /// For --dry-run: says what `run` would do and need (memory, time), and touches nothing. Without one, --dry-run only
  /// resolves and validates.
  Action estimate = {};
  std::string positional = "";  ///< the option that takes the words without a flag: "input"
  std::vector<std::string> examples = {};
};

struct Program {
  std::string name;  ///< "eflops-data"
  std::string help;  ///< one line
  std::vector<Verb> verbs;
};

/// For verbs without options.
struct NoOptions {
  void visit_fields(OptionVisitor&) {}
};

/// "eflops-data shard", or "eflops-data" for the verb without a name.
std::string full_name(const Program& program, const Verb& verb);

/// The verb of that name ('-' and '_' are the same), or null.
const Verb* find_verb(const Program& program, std::string_view name);

}  // namespace eflops::programs
