#include "config/yaml_file.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace eflops::config {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

bool is_key(std::string_view key) {
  return !key.empty() && key.front() != '.' && key.back() != '.' && std::ranges::all_of(key, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
}

/// Listens to nothing: a first pass that finds what is not YAML at all, so that its message comes before ours.
class SyntaxOnly : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// Turns the parser's events into assignments. Events, not nodes: they carry a line for everything, show repeated keys
/// and aliases as they were written, and cannot be blown up by aliases of aliases.
class Reader : public YAML::EventHandler {
 public:
  explicit Reader(YamlFile& file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail(mark, "", "a second document ('---'); an experiment is one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    // An empty document arrives as a null without a place.
    if (levels_.empty()) fail_empty();
    const Level& level = levels_.back();
    if (level.is_list) fail(mark, path(), "an empty list entry");
    if (level.key.empty()) fail(mark, path(), "a key without a name");
    fail(level.mark, path(), "no value; write one, '' for an empty text, or remove the key");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail(mark, path(), "aliases (*) are not allowed"); }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    fail(mark, path(), fmt::format("anchors (&{}) are not allowed", name));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    check_tag(mark, tag);
    if (levels_.empty()) fail(mark, "", fmt::format("'{}' is not 'key: value'", value.substr(0, 40)));
    Level& level = levels_.back();
    if (level.is_list) {
      file_.assignments.back().values.push_back(value);
    } else if (level.key.empty()) {
      begin_key(mark, value);
    } else {
      add_value(mark, value);
      level.key.clear();
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    if (levels_.empty()) fail(mark, "", "the file is a list; 'key: value' lines are expected");
    if (levels_.back().is_list) fail(mark, path(), "a list inside a list; lists hold plain values");
    if (levels_.back().key.empty()) fail(mark, path(), "a list as a key");
    if (path() == "program") fail(mark, "program", "a list; the name of one program is expected");
    file_.assignments.push_back({path(), {}, true, at(mark)});
    levels_.push_back({.mark = mark, .is_list = true});
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    if (!levels_.empty()) {
      if (levels_.back().is_list) fail(mark, path(), "a group inside a list; lists hold plain values");
      if (levels_.back().key.empty()) fail(mark, path(), "a group as a key");
      if (path() == "program") fail(mark, "program", "a group; the name of one program is expected");
    }
    levels_.push_back({.mark = mark, .is_list = false});
  }
  void OnMapEnd() override {
    if (levels_.back().keys == 0) {
      const YAML::Mark mark = levels_.back().mark;
      levels_.pop_back();
      levels_.empty() ? fail_empty() : fail(mark, path(), "a group without keys");
    }
    close();
  }

 private:
  struct Level {
    YAML::Mark mark = {};  ///< of the last key
    bool is_list = false;
    std::string key = {};  ///< whose value comes next; empty between entries
    int keys = 0;
  };

  std::string at(const YAML::Mark& mark) const { return fmt::format("{}:{}", file_.name, std::max(0, mark.line) + 1); }

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& path, const std::string& what) const {
    throw ConfigError("{}: {}{}", at(mark), path.empty() ? "" : path + ": ", what);
  }

  [[noreturn]] void fail_empty() const { throw ConfigError("{}: the file is empty", file_.name); }

  std::string path() const {
    std::string joined;
    for (const Level& level : levels_)
      if (!level.key.empty()) joined += (joined.empty() ? "" : ".") + level.key;
    return joined;
  }

  // The parser reports "?" for a plain scalar, "!" for a quoted one, and "" or "?" for lists and groups.
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") fail(mark, path(), fmt::format("tags ({}) are not allowed", tag));
  }

  void begin_key(const YAML::Mark& mark, std::string key) {
    if (key == "<<") fail(mark, path(), "merge keys (<<) are not allowed");
    if (!is_key(key)) fail(mark, path(), fmt::format("'{}' is not a key (letters, digits, '_', '-', '.')", key));
    std::ranges::replace(key, '-', '_');
    Level& level = levels_.back();
    level.key = key;
    level.mark = mark;
    ++level.keys;
    const int line = mark.line + 1;
    if (const auto [seen, is_new] = lines_.try_emplace(path(), line); !is_new)
      fail(mark, path(), fmt::format("repeated key; first on line {}", seen->second));
  }

  void add_value(const YAML::Mark& mark, const std::string& value) {
    if (path() != "program") {
      file_.assignments.push_back({path(), {value}, false, at(mark)});
      return;
    }
    if (lines_.size() > 1) fail(mark, "program", "must be the first key of the file");
    file_.program = value;
    file_.program_source = at(mark);
  }

  void close() {
    levels_.pop_back();
    if (!levels_.empty()) levels_.back().key.clear();
  }

  YamlFile& file_;
  std::vector<Level> levels_;
  std::map<std::string, int> lines_;
  int documents_ = 0;
};

// Length of the UTF-8 sequence at the start of `text`; 0 when there is none or it is a control character (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 || byte(0) == '\n' || byte(0) == '\r' || byte(0) == '\t' ? 1 : 0;
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  const bool overlong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool surrogate_or_beyond = (byte(0) == 0xED && byte(1) > 0x9F) || (byte(0) == 0xF4 && byte(1) > 0x8F);
  return overlong || surrogate_or_beyond ? 0 : length;
}

void check_text(std::string_view text, const std::string& name) {
  if (text.size() > kMaxBytes) throw ConfigError("{}: larger than 1 MiB: not an experiment file", name);
  int line = 1;
  bool indenting = true;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0)
      throw ConfigError("{}:{}: byte 0x{:02x} is not UTF-8 text", name, line, static_cast<unsigned char>(text[0]));
    if (indenting && text[0] == '\t')
      throw ConfigError("{}:{}: a tab in the indentation; YAML wants spaces", name, line);
    indenting = text[0] == '\n' || (indenting && text[0] == ' ');
    if (text[0] == '\n') ++line;
    text.remove_prefix(length);
  }
}

void run_parser(const std::string& text, YAML::EventHandler& handler) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(handler)) {
  }
}

}  // namespace

YamlFile parse_yaml(std::string_view text, const std::string& name) {
  check_text(text, name);
  YamlFile file{.name = name, .program = {}, .program_source = {}, .assignments = {}};
  // The document's end is written out: without it the parser takes an unclosed quote for a text up to the end of the
  // file.
  const std::string closed = fmt::format("{}{}...\n", text, text.ends_with('\n') ? "" : "\n");
  try {
    SyntaxOnly syntax;
    run_parser(closed, syntax);
  } catch (const YAML::DeepRecursion&) {
    throw ConfigError("{}: nested too deeply", name);
  } catch (const YAML::Exception& error) {
    if (error.msg == YAML::ErrorMsg::DOC_IN_SCALAR) throw ConfigError("{}: a quoted text has no closing quote", name);
    throw ConfigError("{}:{}:{}: not valid YAML: {}", name, error.mark.line + 1, error.mark.column + 1, error.msg);
  }
  Reader reader(file);
  run_parser(closed, reader);
  return file;
}

YamlFile read_yaml(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored) && std::filesystem::file_size(file, ignored) > kMaxBytes)
    throw ConfigError("{}: larger than 1 MiB: not an experiment file", file.string());
  std::string text;
  try {
    text = read_file(file);
  } catch (const DataError& error) {
    throw ConfigError("{}", error.what());
  }
  return parse_yaml(text, file.string());
}

}  // namespace eflops::config
