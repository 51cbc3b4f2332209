#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eflops::bench {

/// What one column of another tool's table holds.
struct ForeignColumn {
  enum class Kind { Bytes, Value, Wrong, Validation, Repetitions, Element, Reduction, Other };
  Kind kind = Kind::Other;
  std::string name;   ///< of a value, as ForeignValue
  std::string unit;   ///< of our value
  double scale = 1;   ///< ours = theirs times this
  std::string place;  ///< "out", "in"; empty for what belongs to the whole line
};

struct ForeignColumns {
  std::string tool;
  std::vector<ForeignColumn> columns;
};

/// The columns that a line names, if it is the head of a table of nccl-tests, OSU or IMB.
std::optional<ForeignColumns> foreign_columns(std::string_view line);

/// Words between blanks.
std::vector<std::string> words_of(std::string_view line);

}  // namespace eflops::bench
