#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/options.h"
#include "base/options_format.h"

namespace eflops {
namespace {

std::string yaml_list(const std::vector<std::string>& values) {
  std::string all = "[";
  for (const std::string& value : values) all += (all.size() > 1 ? ", " : "") + yaml_scalar(value);
  return all + "]";
}

class Describer : public OptionVisitor {
 public:
  std::vector<FieldDescription> take() { return std::move(fields_); }

 protected:
  void visit(std::string_view key, bool& value, std::string_view help, const FieldNotes& notes) override {
    add(key, "bool", value ? "true" : "false", help, notes);
  }
  void visit(std::string_view key, std::int64_t& value, std::string_view help, const FieldNotes& notes) override {
    add(key, "integer", fmt::format("{}", value), help, notes);
  }
  void visit(std::string_view key, double& value, std::string_view help, const FieldNotes& notes) override {
    add(key, "number", format_number(value), help, notes);
  }
  void visit(std::string_view key, std::string& value, std::string_view help, const FieldNotes& notes) override {
    add(key, "text", yaml_scalar(value), help, notes);
  }
  void visit(std::string_view key, std::vector<std::string>& value, std::string_view help,
             const FieldNotes& notes) override {
    add(key, "list of text", yaml_list(value), help, notes);
  }
  void visit(std::string_view key, ChoiceField& value, std::string_view help, const FieldNotes& notes) override {
    const std::vector<std::string_view> names = value.names();
    add(key, "choice", yaml_scalar(names[value.index()]), help, notes);
    fields_.back().choices.assign(names.begin(), names.end());
  }
  void begin_group(std::string_view key, std::string_view help) override {
    prefixes_.push_back((prefixes_.empty() ? "" : prefixes_.back()) + std::string(key) + ".");
    helps_.emplace_back(help);
  }
  void end_group() override {
    prefixes_.pop_back();
    helps_.pop_back();
  }

 private:
  void add(std::string_view key, std::string type, std::string value, std::string_view help, const FieldNotes& notes) {
    FieldDescription field;
    field.path = (prefixes_.empty() ? "" : prefixes_.back()) + std::string(key);
    field.type = std::move(type);
    field.value = std::move(value);
    field.unit = notes.unit;
    field.help = help;
    field.group_help = helps_.empty() ? "" : helps_.back();
    field.aliases.assign(notes.aliases.begin(), notes.aliases.end());
    field.min = notes.min;
    field.max = notes.max;
    field.changes_result = notes.changes_result;
    fields_.push_back(std::move(field));
  }

  std::vector<FieldDescription> fields_;
  std::vector<std::string> prefixes_;
  std::vector<std::string> helps_;
};

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char letter : path) {
    if (letter == '.')
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  return parts;
}

}  // namespace

std::string format_number(double value) { return fmt::format("{}", value); }

std::string yaml_scalar(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
           c == '.' || c == '-' || c == '+';
  };
  const bool begins_well = !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') ||
                                             text[0] == '/' || text[0] == '_');
  constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "on", "off", "null"};
  if (begins_well && std::ranges::all_of(text, plain) && std::ranges::find(kWords, text) == std::end(kWords))
    return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\')
      quoted += std::string("\\") + letter;
    else if (letter == '\n')
      quoted += "\\n";
    else if (letter == '\t')
      quoted += "\\t";
    else if (static_cast<unsigned char>(letter) < 0x20)
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned>(letter));
    else
      quoted += letter;
  }
  return quoted + "\"";
}

std::vector<FieldDescription> describe(const OptionSet& options) {
  Describer describer;
  options.walk(describer);
  return describer.take();
}

std::string dump_yaml(const OptionSet& options, const std::function<std::string(const std::string&)>& source_of) {
  std::string text;
  std::vector<std::string> open;
  for (const FieldDescription& field : describe(options)) {
    std::vector<std::string> parts = split_path(field.path);
    const std::string key = parts.back();
    parts.pop_back();
    std::size_t common = 0;
    while (common < open.size() && common < parts.size() && open[common] == parts[common]) ++common;
    for (std::size_t depth = common; depth < parts.size(); ++depth)
      text += std::string(2 * depth, ' ') + parts[depth] + ":\n";
    open = parts;
    text += std::string(2 * parts.size(), ' ') + key + ": " + field.value;
    const std::string source = source_of ? source_of(field.path) : "";
    text += (source.empty() ? "" : "  # " + source) + "\n";
  }
  return text;
}

std::string config_hash(const OptionSet& options) {
  std::string canonical;
  for (const FieldDescription& field : describe(options))
    if (field.changes_result) canonical += field.path + "=" + field.value + "\n";
  return hex64(hash64(canonical));
}

}  // namespace eflops
