#include "programs/command_line_flags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/error.h"

namespace eflops::programs {
namespace {

std::string canonical(std::string_view name) {
  std::string folded(name);
  std::ranges::replace(folded, '-', '_');
  return folded;
}

const CommonFlag* common_flag(std::string_view name) {
  const auto found = std::ranges::find(common_flags(), name, &CommonFlag::name);
  return found == common_flags().end() ? nullptr : &*found;
}

bool looks_like_number(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return is_digit(word[1]) || (word[1] == '.' && word.size() > 2 && is_digit(word[2]));
}

// Length of the key in "a.b=c", 0 when the word is not of that form.
std::size_t key_length(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || word[0] == '.' || word[0] == '-') return 0;
  const bool is_key = std::ranges::all_of(word.substr(0, equals), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
  return is_key ? equals : 0;
}

// "True" is how Python users write it.
std::string truth_text(std::string value) {
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return value;
}

bool is_truth_word(const std::string& word) {
  const std::string folded = truth_text(word);
  return folded == "true" || folded == "false";
}

}  // namespace

const std::vector<CommonFlag>& common_flags() {
  static const std::vector<CommonFlag> flags{
      {"config", "FILE", "experiment file (YAML); may be repeated, later ones win; `.yaml` may be left out"},
      {"help", "", "this text (also -h)"},
      {"describe", "[=json]", "every option: type, default, unit, meaning; as a table or as JSON"},
      {"dump_config", "", "the resolved options as an experiment file, with the source of each value"},
      {"dry_run", "", "resolve, validate and estimate; touch nothing"},
      {"quiet", "", "no progress and no notes, only results, warnings and errors (also -q)"},
      {"version", "", "the version"},
      {"build_info", "", "version, commit, compiler, flags and libraries"},
  };
  return flags;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  parts.emplace_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',')
      parts.back() += text[++i];
    else if (text[i] == ',')
      parts.emplace_back();
    else
      parts.back() += text[i];
  }
  return parts;
}

struct FlagTable::Cursor {
  const std::vector<std::string>& typed;
  std::size_t next = 0;
  StrictWords found = {};

  const std::string& word() const { return typed[next - 1]; }
};

FlagTable::FlagTable(const OptionSet& options, std::string_view positional)
    : fields_(describe(options)), positional_(positional) {
  for (const FieldDescription& field : fields_) {
    EFLOPS_CHECK(common_flag(field.path) == nullptr, "option {} hides the common flag", field.path);
    for (const std::string& alias : field.aliases) {
      const std::string name = canonical(alias);
      EFLOPS_CHECK(common_flag(name) == nullptr && name != "h" && name != "q", "alias {} hides a common flag", alias);
      const bool is_new = aliases_.try_emplace(name, field.path).second || aliases_.at(name) == field.path;
      EFLOPS_CHECK(is_new && (this->field(name) == nullptr || name == field.path), "alias {} of {} means {} as well",
                   alias, field.path, aliases_.at(name));
    }
  }
  EFLOPS_CHECK(positional_.empty() || field(positional_) != nullptr, "no option {}", positional_);
}

const FieldDescription* FlagTable::field(std::string_view path) const {
  const auto found = std::ranges::find(fields_, path, &FieldDescription::path);
  return found == fields_.end() ? nullptr : &*found;
}

std::string FlagTable::resolve(std::string_view spelled) const {
  const std::string name = canonical(spelled);
  if (field(name) != nullptr || common_flag(name) != nullptr) return name;
  if (name == "h") return "help";
  if (name == "q") return "quiet";
  if (const auto alias = aliases_.find(name); alias != aliases_.end()) return alias->second;
  std::vector<std::string> meant;
  for (const FieldDescription& field : fields_)
    if (field.path.ends_with("." + name)) meant.push_back(field.path);
  if (meant.size() > 1)
    throw ConfigError("'{}' means several options: {}", spelled, fmt::format("--{}", fmt::join(meant, ", --")));
  return meant.empty() ? "" : meant[0];
}

std::vector<std::string> FlagTable::spellings(const FieldDescription& field) const {
  std::vector<std::string> all{"--" + field.path};
  const std::size_t dot = field.path.find_last_of('.');
  if (const std::string key = dot == std::string::npos ? "" : field.path.substr(dot + 1); !key.empty()) {
    const auto ends_so = [&](const FieldDescription& other) { return other.path.ends_with("." + key); };
    const bool taken = this->field(key) != nullptr || common_flag(key) != nullptr || aliases_.contains(key);
    if (!taken && std::ranges::count_if(fields_, ends_so) == 1) all.push_back("--" + key);
  }
  for (const std::string& alias : field.aliases) all.push_back((alias.size() == 1 ? "-" : "--") + alias);
  return all;
}

std::vector<std::string> FlagTable::names() const {
  std::vector<std::string> all;
  for (const FieldDescription& field : fields_) all.push_back("--" + field.path);
  for (const CommonFlag& flag : common_flags()) all.push_back(fmt::format("--{}", flag.name));
  return all;
}

bool FlagTable::is_switch(const std::string& name) const {
  if (const CommonFlag* flag = common_flag(name)) return flag->value.empty() || flag->value[0] == '[';
  return field(name)->type == "bool";
}

void FlagTable::fail_unknown(const std::string& spelled) const {
  std::vector<std::string> known;
  for (const FieldDescription& field : fields_)
    for (const std::string& flag : spellings(field)) known.push_back(flag);
  for (const CommonFlag& flag : common_flags()) known.push_back(fmt::format("--{}", flag.name));
  // Among one or two letters everything is near everything.
  const std::string flag = spelled[0] == '-' ? spelled : "--" + spelled;
  const std::string guess = flag.size() > 4 ? nearest(flag, known) : "";
  throw ConfigError("unknown option {}{}", spelled,
                    guess.empty() ? "; --help lists them" : fmt::format("; did you mean {}?", guess));
}

void FlagTable::add(Cursor& at, const std::string& name, const std::string& spelled, std::string value) const {
  const FieldDescription* known = field(name);
  if (known != nullptr && known->type == "bool") value = truth_text(value);
  at.found.words.push_back("--" + name);
  at.found.words.push_back(std::move(value));
  at.found.spelled[name] = spelled;
}

void FlagTable::take_flag(Cursor& at) const {
  const std::string& word = at.word();
  const std::size_t equals = word.find('=');
  const std::string spelled = word.substr(0, equals);
  const std::string bare = spelled.substr(2);
  std::optional<std::string> value;
  if (equals != std::string::npos) value = word.substr(equals + 1);

  std::string name = resolve(bare);
  if (name.empty() && (bare.starts_with("no-") || bare.starts_with("no_"))) {
    name = resolve(bare.substr(3));
    const FieldDescription* negated = field(name);
    if (negated == nullptr) fail_unknown(spelled);
    if (negated->type != "bool") throw ConfigError("{}: {} is no switch but {}", spelled, name, negated->type);
    if (value) throw ConfigError("{} takes no value", spelled);
    return add(at, name, spelled, "false");
  }
  if (name.empty()) fail_unknown(spelled);
  if (!value && is_switch(name)) {
    const bool has_truth = field(name) != nullptr && at.next < at.typed.size() && is_truth_word(at.typed[at.next]);
    value = has_truth ? at.typed[at.next++] : "true";
  }
  if (!value) {
    if (at.next == at.typed.size()) throw ConfigError("{} needs a value", spelled);
    value = at.typed[at.next++];
    // A forgotten value is likelier than one that begins with two dashes; "--x=--y" says that it is meant.
    if (value->starts_with("--")) throw ConfigError("{} needs a value, but '{}' follows", spelled, *value);
  }
  add(at, name, spelled, *value);
}

void FlagTable::take_short(Cursor& at) const {
  const std::string word = at.word();
  const std::string letter = word.substr(1, 1);
  const std::string rest = word.substr(2);
  const bool is_alias = aliases_.contains(letter);
  if (!is_alias && !(rest.empty() && (letter == "h" || letter == "q"))) {
    const std::string name = word.substr(1, word.find('=') - 1);
    if (const std::string meant = resolve(name); name.size() > 1 && !meant.empty())
      throw ConfigError("unknown option {}; did you mean --{}?", word, name);
    fail_unknown(word);
  }
  const std::string name = resolve(letter);
  if (is_switch(name)) {
    if (!rest.empty() && rest[0] != '=') throw ConfigError("-{} is a switch: '{}' does not belong to it", letter, rest);
    return add(at, name, "-" + letter, rest.empty() ? "true" : rest.substr(1));
  }
  if (!rest.empty()) return add(at, name, "-" + letter, rest[0] == '=' ? rest.substr(1) : rest);
  if (at.next == at.typed.size()) throw ConfigError("-{} needs a value", letter);
  add(at, name, "-" + letter, at.typed[at.next++]);
}

void FlagTable::take_word(Cursor& at) const {
  const std::string& word = at.word();
  if (const std::size_t length = key_length(word); length > 0) {
    const std::string key = word.substr(0, length);
    const std::string name = resolve(key);
    if (name.empty() || common_flag(name) != nullptr) fail_unknown(key);
    return add(at, name, key + "=", word.substr(length + 1));
  }
  if (positional_.empty()) throw ConfigError("unexpected '{}': options are written --name value or name=value", word);
  if (field(positional_)->type != "list of text" && at.found.spelled.contains(positional_))
    throw ConfigError("unexpected '{}': {} is given already", word, positional_);
  // A comma in a file's name is no separator here.
  std::string value;
  for (const char letter : word) value += letter == ',' ? std::string("\\,") : std::string(1, letter);
  add(at, positional_, positional_, field(positional_)->type == "list of text" ? value : word);
}

StrictWords FlagTable::strict(const std::vector<std::string>& typed) const {
  Cursor at{.typed = typed};
  bool only_words = false;
  while (at.next < typed.size()) {
    const std::string& word = typed[at.next++];
    if (!only_words && word == "--") {
      only_words = true;
    } else if (!only_words && word.starts_with("--")) {
      take_flag(at);
    } else if (!only_words && word.size() > 1 && word[0] == '-' && !looks_like_number(word)) {
      take_short(at);
    } else {
      take_word(at);
    }
  }
  return std::move(at.found);
}

}  // namespace eflops::programs
