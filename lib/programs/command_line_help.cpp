#include "programs/command_line_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "programs/command_line_sources.h"

namespace eflops::programs {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 34;

constexpr const char* kExitCodes =
    "exit codes:\n"
    "  0 done, 1 a check or gate failed, 2 configuration, 3 data, 4 communication, 5 timeout,\n"
    "  70 a fault of ours, 75 interrupted after a clean checkpoint (the message says how to resume)\n";

constexpr const char* kSources =
    "Values come from defaults < --config files < environment (EFLOPS_GROUP_KEY) < flags and group.key=value words.\n"
    "In names '-' and '_' are the same; a key without its group works where only one option ends in it; numbers take\n"
    "k, M, G, Ki, Mi, Gi; lists are separated by commas or repeated flags. Experiment files are found in the current\n"
    "folder, its configs/, the folders of EFLOPS_CONFIG_PATH and the installed share/eflops/configs.\n";

// One entry: `left` in a column of its own, `right` wrapped beside it.
std::string entry(const std::string& left, const std::string& right) {
  std::string text = "  " + left;
  std::size_t column = text.size();
  if (column + 2 > kColumn) {
    text += "\n";
    column = 0;
  }
  text += std::string(kColumn - column, ' ');
  column = kColumn;
  for (std::size_t begin = 0; begin < right.size();) {
    const std::size_t end = std::min(right.find(' ', begin), right.size());
    if (column > kColumn && column + 1 + (end - begin) > kWidth) {
      text += "\n" + std::string(kColumn, ' ');
      column = kColumn;
    } else if (column > kColumn) {
      text += ' ';
      ++column;
    }
    text += right.substr(begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  return text + "\n";
}

std::string type_word(const FieldDescription& field) {
  if (field.type == "choice") return fmt::format("{}", fmt::join(field.choices, "|"));
  if (field.type == "list of text") return "TEXT,...";
  std::string word = field.type;
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return word;
}

std::string range_text(const FieldDescription& field) {
  if (std::isinf(field.min) && std::isinf(field.max)) return "";
  if (std::isinf(field.max)) return fmt::format(">= {}", field.min);
  if (std::isinf(field.min)) return fmt::format("<= {}", field.max);
  return fmt::format("{} to {}", field.min, field.max);
}

std::string flag_entry(const FlagTable& table, const FieldDescription& field) {
  const bool is_switch = field.type == "bool";
  const std::string left = is_switch ? "--[no-]" + field.path : "--" + field.path + " " + type_word(field);
  std::vector<std::string> notes{"default " + (field.value == "\"\"" ? "empty" : field.value)};
  if (!field.unit.empty()) notes[0] += " " + field.unit;
  if (const std::string range = range_text(field); !range.empty()) notes.push_back(range);
  std::vector<std::string> also = table.spellings(field);
  also.erase(also.begin());
  if (!also.empty()) notes.push_back(fmt::format("also {}", fmt::join(also, " ")));
  return entry(left, fmt::format("{} ({})", field.help, fmt::join(notes, "; ")));
}

std::string group_of(const FieldDescription& field) {
  const std::size_t dot = field.path.find_last_of('.');
  return dot == std::string::npos ? "" : field.path.substr(0, dot);
}

std::string flags_text(const FlagTable& table) {
  std::string text;
  std::string open = "?";
  for (const FieldDescription& field : table.fields()) {
    if (const std::string group = group_of(field); group != open) {
      text += group.empty() ? "\nflags:\n" : fmt::format("\n{} - {}:\n", group, field.group_help);
      open = group;
    }
    text += flag_entry(table, field);
  }
  return text;
}

std::string common_text() {
  std::string text = "\nflags of every program:\n";
  for (const CommonFlag& flag : common_flags()) {
    std::string name(flag.name);
    std::ranges::replace(name, '_', '-');
    const char* gap = flag.value.empty() || flag.value[0] == '[' ? "" : " ";
    text += entry(fmt::format("--{}{}{}", name, gap, flag.value), std::string(flag.help));
  }
  return text + "\n" + kSources;
}

std::string examples_text(const std::vector<std::string>& examples) {
  std::string text = examples.empty() ? "" : "\nexamples:\n";
  for (const std::string& example : examples) text += "  " + example + "\n";
  return text;
}

Json option_json(const FlagTable& table, const FieldDescription& field) {
  Json option{
      {"path", field.path}, {"type", field.type},       {"default", field.value},   {"unit", field.unit},
      {"help", field.help}, {"group", group_of(field)}, {"choices", field.choices}, {"flags", table.spellings(field)}};
  option["minimum"] = std::isinf(field.min) ? Json() : Json(field.min);
  option["maximum"] = std::isinf(field.max) ? Json() : Json(field.max);
  option["environment"] = environment_name(field.path);
  option["changes_result"] = field.changes_result;
  return option;
}

}  // namespace

std::string verb_help(const Program& program, const Verb& verb) {
  const FlagTable table(verb.options, verb.positional);
  const std::string name = full_name(program, verb);
  std::string text = fmt::format("{} - {}\n\nusage: {}{} [--flag value | key=value]...\n", name,
                                 verb.help.empty() ? program.help : verb.help, name,
                                 verb.positional.empty() ? "" : " [" + verb.positional + "...]");
  text += flags_text(table) + common_text() + examples_text(verb.examples) + "\n" + kExitCodes;
  return text;
}

std::string program_help(const Program& program) {
  if (program.verbs.size() == 1) return verb_help(program, program.verbs[0]);
  std::string text = fmt::format("{} - {}\n\nusage: {} [VERB] [--flag value | key=value]...\n\nverbs:\n", program.name,
                                 program.help, program.name);
  for (const Verb& verb : program.verbs) text += entry(verb.name.empty() ? "(none)" : verb.name, verb.help);
  text += fmt::format("\n{} VERB --help shows the flags of a verb.\n", program.name);
  std::vector<std::string> examples;
  for (const Verb& verb : program.verbs) {
    if (verb.name.empty()) text += flags_text(FlagTable(verb.options, verb.positional));
    examples.insert(examples.end(), verb.examples.begin(), verb.examples.end());
  }
  return text + common_text() + examples_text(examples) + "\n" + kExitCodes;
}

std::string describe_text(const Program& program, const std::vector<const Verb*>& verbs) {
  std::string text;
  for (const Verb* verb : verbs) {
    const FlagTable table(verb->options, verb->positional);
    text += fmt::format("{}# {} - {}\n", text.empty() ? "" : "\n", full_name(program, *verb),
                        verb->help.empty() ? program.help : verb->help);
    if (table.fields().empty()) text += "(no options of its own)\n";
    for (const FieldDescription& field : table.fields()) {
      std::string type = field.type == "choice" ? "one of " + type_word(field) : field.type;
      if (const std::string range = range_text(field); !range.empty()) type += ", " + range;
      if (!field.unit.empty()) type += ", " + field.unit;
      text += fmt::format("{} = {}  ({})\n    {}\n    flags {}", field.path, field.value, type, field.help,
                          fmt::join(table.spellings(field), " "));
      if (const std::string name = environment_name(field.path); !name.empty()) text += "; environment " + name;
      text += field.changes_result ? "; changes the result\n" : "\n";
    }
  }
  return text;
}

Json describe_json(const Program& program, const std::vector<const Verb*>& verbs) {
  Json described{{"program", program.name}, {"help", program.help}, {"verbs", Json::array()}};
  for (const Verb* verb : verbs) {
    const FlagTable table(verb->options, verb->positional);
    Json options = Json::array();
    for (const FieldDescription& field : table.fields()) options.push_back(option_json(table, field));
    described["verbs"].push_back(Json{{"verb", verb->name}, {"help", verb->help}, {"options", std::move(options)}});
  }
  return described;
}

}  // namespace eflops::programs
