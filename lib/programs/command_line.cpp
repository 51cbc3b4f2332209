#include "programs/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/build_info.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "config/find_config.h"
#include "experiment/libraries.h"
#include "experiment/sweep.h"
#include "programs/command_line_help.h"

namespace eflops::programs {
namespace {

struct Chosen {
  const Verb* verb = nullptr;
  std::vector<std::string> words;  ///< without the verb
};

// The words after --config, wherever they stand.
std::vector<std::string> config_names(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with("--config=")) names.push_back(words[i].substr(9));
    if (words[i] == "--config" && i + 1 < words.size()) names.push_back(words[++i]);
  }
  return names;
}

// Where the verb stands among the words: behind flags that every program has; npos when there is none.
std::size_t verb_position(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.empty() || word == "--") break;
    if (word[0] != '-') return word.find('=') == std::string::npos ? i : std::string::npos;
    std::string name = word.substr(word.find_first_not_of('-'), word.find('=') - word.find_first_not_of('-'));
    std::ranges::replace(name, '-', '_');
    const auto known = std::ranges::find(common_flags(), name, &CommonFlag::name);
    if (known == common_flags().end() && name != "q" && name != "h") break;
    if (name == "config" && word.find('=') == std::string::npos) ++i;
  }
  return std::string::npos;
}

std::string verb_names(const Program& program) {
  std::vector<std::string> names;
  for (const Verb& verb : program.verbs)
    if (!verb.name.empty()) names.push_back(verb.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// The verb that an experiment file names, when the command line names none.
const Verb* verb_of_configs(const Program& program, const std::vector<std::string>& words) {
  for (const std::string& name : config_names(words)) {
    const std::string named = full_program_name(config::read_yaml(config::find_config(name)).program);
    for (const Verb& verb : program.verbs)
      if (!verb.name.empty() && named == full_name(program, verb)) return &verb;
  }
  return nullptr;
}

Chosen choose_verb(const Program& program, const std::vector<std::string>& words) {
  const bool has_named = std::ranges::any_of(program.verbs, [](const Verb& verb) { return !verb.name.empty(); });
  Chosen chosen{.verb = find_verb(program, ""), .words = words};
  if (!has_named) return chosen;
  if (const std::size_t at = verb_position(words); at != std::string::npos) {
    chosen.verb = find_verb(program, words[at]);
    if (chosen.verb == nullptr) {
      std::vector<std::string> names;
      for (const Verb& verb : program.verbs) names.push_back(verb.name);
      const std::string guess = nearest(words[at], names);
      throw ConfigError("unknown verb '{}'{} (verbs: {})", words[at],
                        guess.empty() ? "" : "; did you mean '" + guess + "'?", verb_names(program));
    }
    chosen.words.erase(chosen.words.begin() + static_cast<std::ptrdiff_t>(at));
    return chosen;
  }
  if (const Verb* named = verb_of_configs(program, words)) chosen.verb = named;
  if (chosen.verb == nullptr) throw ConfigError("a verb is needed: {}", verb_names(program));
  return chosen;
}

// A word as a POSIX shell reads it back.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_-./=:,@%+", c) != nullptr;
  });
  if (plain) return word;
  std::string quoted;
  for (const char letter : word) {
    if (letter == '\'') quoted += "'\\'";
    quoted += letter;
  }
  return fmt::format("'{}'", quoted);
}

std::string shell_command(const Program& program, const std::vector<std::string>& words) {
  std::string command = program.name;
  for (const std::string& word : words) command += fmt::format(" {}", shell_word(word));
  return command;
}

bool is_set(const ParsedWords& parsed, const std::string& name) {
  const auto found = parsed.find("--" + name);
  if (found == parsed.end() || found->second.empty()) return false;
  const std::string& value = found->second.back();
  if (value != "true" && value != "false") throw ConfigError("--{}={}: true or false is expected", name, value);
  return value == "true";
}

void print(const std::string& text) { fmt::print("{}", text); }

// --help wins over everything else on the line, so that it helps with a line that is wrong.
bool asks_for_help(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

void describe(const Program& program, const Chosen& chosen, const std::string& format) {
  std::vector<const Verb*> verbs{chosen.verb};
  if (chosen.verb->name.empty()) {
    verbs.clear();
    for (const Verb& verb : program.verbs) verbs.push_back(&verb);
  }
  if (format == "json") return print(to_json_line(describe_json(program, verbs)) + "\n");
  if (format != "true") throw ConfigError("--describe={}: nothing or json is expected", format);
  print(describe_text(program, verbs));
}

/// What a file says to eflops-run is not for the program.
void leave_out_experiment(config::YamlFile& file) {
  const bool sweeps = std::ranges::any_of(
      file.assignments, [](const Assignment& one) { return one.path.starts_with("experiment.sweep."); });
  if (sweeps) log::warning("{}: has a sweep; this is what stands beside it, eflops-run runs every point", file.name);
  std::erase_if(file.assignments, experiment::is_of_experiment);
}

void run_verb(const Program& program, const Chosen& chosen, const std::string& command, const WordParser& parse) {
  const Verb& verb = *chosen.verb;
  const FlagTable table(verb.options, verb.positional);
  const StrictWords words = table.strict(chosen.words);
  const ParsedWords parsed = parse(table.names(), words.words);
  if (is_set(parsed, "version")) return print(fmt::format("{} {}\n", program.name, build_info().version));
  if (is_set(parsed, "build_info")) return print(build_text(program.name));
  if (const auto asked = parsed.find("--describe"); asked != parsed.end() && !asked->second.empty())
    return describe(program, chosen, asked->second.back());
  if (is_set(parsed, "quiet")) {
    log::set_level(log::Level::Warning);
    Progress::set_quiet(true);
  }

  std::vector<config::YamlFile> files;
  if (const auto configs = parsed.find("--config"); configs != parsed.end())
    for (const std::string& name : configs->second) {
      files.push_back(config::read_yaml(config::find_config(name)));
      check_program(files.back(), program, verb);
      leave_out_experiment(files.back());
    }
  const Invocation call{.program = full_name(program, verb),
                        .command = command,
                        .options = verb.options,
                        .sources = assign_all(verb.options, files, environment_assignments(table),
                                              flag_assignments(table, parsed, words))};
  if (is_set(parsed, "dump_config"))
    return print("program: " + call.program + "\n" +
                 dump_yaml(verb.options, [&](const std::string& path) { return call.source_of(path); }));
  if (!is_set(parsed, "dry_run")) return verb.run(call);
  if (verb.estimate) verb.estimate(call);
  print(fmt::format("{}: the configuration is valid (hash {}); nothing was done\n", call.program,
                    config_hash(verb.options)));
}

// Everything that goes wrong is one line, whatever a file's name holds.
std::string one_line(std::string text) {
  for (char& letter : text)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) letter = ' ';
  return text;
}

int fail(const Program& program, ExitCode code, const std::string& message) {
  std::fflush(stdout);
  const std::string line = fmt::format("{}: {}\n", program.name, one_line(message));
  std::fwrite(line.data(), 1, line.size(), stderr);
  return static_cast<int>(code);
}

// What standard output could not take; 0 when all went out.
int flush_output(const Program& program) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  if (errno == EPIPE) throw std::system_error(EPIPE, std::generic_category());
  return fail(program, ExitCode::Data,
              fmt::format("cannot write to standard output: {}", std::strerror(errno == 0 ? EIO : errno)));
}

[[noreturn]] void die_of_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(128 + SIGPIPE);
}

}  // namespace

std::string build_text(const std::string& program_name) {
  const BuildInfo& build = build_info();
  std::string text = fmt::format("{} {}\ncommit     {}{}\ncompiler   {}\nbuild      {}\nflags      {}\n", program_name,
                                 build.version, build.git_commit, build.git_dirty ? " with local changes" : "",
                                 build.compiler, build.build_type, build.flags);
  text += "libraries ";
  for (const auto& [name, version] : experiment::library_versions()) text += fmt::format(" {} {},", name, version);
  text.back() = '\n';
  return text;
}

int run_main(const Program& program, const std::vector<std::string>& arguments, const WordParser& parse) {
  std::signal(SIGPIPE, SIG_IGN);  // a write that fails unwinds instead, so that temporary files go
  try {
    const bool help = asks_for_help(arguments);
    const Chosen chosen = choose_verb(program, arguments);
    if (help)
      print(chosen.verb->name.empty() ? program_help(program) : verb_help(program, *chosen.verb));
    else
      run_verb(program, chosen, shell_command(program, arguments), parse);
    return flush_output(program);
  } catch (const Error& error) {
    const bool ours = error.exit_code() == ExitCode::Internal;
    return fail(program, error.exit_code(), fmt::format("{}{}", ours ? "internal fault: " : "", error.what()));
  } catch (const std::bad_alloc&) {
    return fail(program, ExitCode::Internal, "out of memory; a smaller model, batch or shard needs less");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) die_of_broken_pipe();
    return fail(program, ExitCode::Data, error.what());
  } catch (const std::exception& error) {
    return fail(program, ExitCode::Internal, fmt::format("internal fault: {}", error.what()));
  } catch (...) {
    return fail(program, ExitCode::Internal, "internal fault: an unknown exception");
  }
}

}  // namespace eflops::programs
