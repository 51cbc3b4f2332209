#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"

namespace eflops::programs {

/// A flag that every program has.
struct CommonFlag {
  std::string_view name;   ///< without dashes, with '_'
  std::string_view value;  ///< what its value is called; empty for a switch
  std::string_view help;
};
const std::vector<CommonFlag>& common_flags();

/// The words of a command line in the form that has one reading only: name, value, name, value … Names are the full
/// path of an option or a common flag, with dashes; every switch has its value ("true").
struct StrictWords {
  std::vector<std::string> words;
  std::map<std::string, std::string> spelled;  ///< path → how its last flag was written: "--lr"
};

/// All spellings of the flags of one verb: `--group.key`, its last parts where only one option ends so, the aliases,
/// `-b` for one-letter aliases, '-' for '_'. It keeps the options' descriptions as they were when it was made: make it
/// before anything is assigned, and these are the defaults.
class FlagTable {
 public:
  /// `positional`: the option that takes words without a flag, or "". InternalError when two options share a spelling.
  FlagTable(const OptionSet& options, std::string_view positional);

  const std::vector<FieldDescription>& fields() const { return fields_; }
  /// Null for a path that is no option.
  const FieldDescription* field(std::string_view path) const;

  /// Path of the option, or name of the common flag, that a spelling without dashes means; "" when unknown. ConfigError
  /// when several options are meant.
  std::string resolve(std::string_view name) const;

  /// Known spellings of a path, beginning with the path itself.
  std::vector<std::string> spellings(const FieldDescription& field) const;

  /// Reads words as typed: `--x v`, `--x=v`, `-b v`, `-b8`, `x.y=v`, `--switch`, `--no-switch`, `--switch=false`,
  /// negative numbers as values (C29), and `--` before words that are no flags. ConfigError, with the nearest known
  /// spelling, for anything else.
  StrictWords strict(const std::vector<std::string>& typed) const;

  /// Names for the parser of the strict form, with dashes.
  std::vector<std::string> names() const;

 private:
  struct Cursor;
  void take_flag(Cursor& at) const;
  void take_short(Cursor& at) const;
  void take_word(Cursor& at) const;
  void add(Cursor& at, const std::string& name, const std::string& spelled, std::string value) const;
  bool is_switch(const std::string& name) const;
  [[noreturn]] void fail_unknown(const std::string& spelled) const;

  std::vector<FieldDescription> fields_;
  std::string positional_;
  std::map<std::string, std::string> aliases_;
};

/// Splits "a,b\,c" at commas into "a" and "b,c"; the empty text is no element.
std::vector<std::string> split_list(std::string_view text);

}  // namespace eflops::programs
