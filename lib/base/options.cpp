#include "base/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/options_format.h"

namespace eflops {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};
constexpr std::array<Suffix, 6> kSuffixes{
    {{"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}};

// Splits "64Ki" into "64" and 1024.
std::pair<std::string_view, double> split_suffix(std::string_view text) {
  for (const auto& [suffix, factor] : kSuffixes)
    if (text.size() > suffix.size() && text.ends_with(suffix))
      return {text.substr(0, text.size() - suffix.size()), factor};
  return {text, 1.0};
}

// "0010" reads as 8 in some tools and as 10 in others: refused (C26).
bool has_leading_zero(std::string_view digits) {
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  return digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
}

std::string valid_range(const FieldNotes& notes) {
  if (std::isinf(notes.min) && std::isinf(notes.max)) return "";
  if (std::isinf(notes.max)) return fmt::format(" (valid: >= {})", notes.min);
  if (std::isinf(notes.min)) return fmt::format(" (valid: <= {})", notes.max);
  return fmt::format(" (valid: {} to {})", notes.min, notes.max);
}

void check_range(double value, const FieldNotes& notes, const std::string& where, const std::string& text) {
  if (value >= notes.min && value <= notes.max) return;
  throw ConfigError("{} is {}: out of range{}", where, text, valid_range(notes));
}

bool same_key(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x == '-' ? '_' : x) == (y == '-' ? '_' : y); });
}

/// Finds one path and sets it.
class Assigner : public OptionVisitor {
 public:
  explicit Assigner(const Assignment& assignment) : assignment_(assignment) {}
  bool found() const { return found_; }
  const std::vector<std::string>& paths() const { return paths_; }

 protected:
  void visit(std::string_view key, bool& value, std::string_view, const FieldNotes&) override {
    if (!here(key)) return;
    const std::string& text = scalar();
    if (text == "true" || text == "yes" || text == "on" || text == "1") {
      value = true;
    } else if (text == "false" || text == "no" || text == "off" || text == "0") {
      value = false;
    } else {
      throw ConfigError("{} is '{}': not a truth value (valid: true, false)", where(), text);
    }
  }
  void visit(std::string_view key, std::int64_t& value, std::string_view, const FieldNotes& notes) override {
    if (!here(key)) return;
    const std::int64_t read = parse_integer(scalar(), where());
    check_range(static_cast<double>(read), notes, where(), scalar());
    value = read;
  }
  void visit(std::string_view key, double& value, std::string_view, const FieldNotes& notes) override {
    if (!here(key)) return;
    const double read = parse_number(scalar(), where());
    check_range(read, notes, where(), scalar());
    value = read;
  }
  void visit(std::string_view key, std::string& value, std::string_view, const FieldNotes&) override {
    if (here(key)) value = scalar();
  }
  void visit(std::string_view key, std::vector<std::string>& value, std::string_view, const FieldNotes&) override {
    if (here(key)) value = assignment_.values;
  }
  void visit(std::string_view key, ChoiceField& value, std::string_view, const FieldNotes&) override {
    if (!here(key)) return;
    const std::vector<std::string_view> names = value.names();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (same_key(names[i], scalar())) return value.set_index(i);
    throw ConfigError("{} is '{}' (valid: {})", where(), scalar(), fmt::join(names, ", "));
  }
  void begin_group(std::string_view key, std::string_view) override { prefix_ += std::string(key) + "."; }
  void end_group() override { prefix_.resize(prefix_.find_last_of('.', prefix_.size() - 2) + 1); }

 private:
  bool here(std::string_view key) {
    paths_.push_back(prefix_ + std::string(key));
    if (!same_key(paths_.back(), assignment_.path)) return false;
    found_ = true;
    return true;
  }
  const std::string& scalar() const {
    if (assignment_.is_list || assignment_.values.size() != 1)
      throw ConfigError("{} is a list: one value is expected", where());
    return assignment_.values[0];
  }
  std::string where() const { return fmt::format("{}: {}", assignment_.source, assignment_.path); }

  const Assignment& assignment_;
  std::string prefix_;
  std::vector<std::string> paths_;
  bool found_ = false;
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

}  // namespace

std::int64_t parse_integer(std::string_view text, std::string_view where) {
  const auto [digits, factor] = split_suffix(text);
  if (has_leading_zero(digits))
    throw ConfigError("{} is '{}': leading zeros are ambiguous, write it without", where, text);
  std::string_view bare = digits;
  if (bare.starts_with('+')) bare.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(bare.data(), bare.data() + bare.size(), value);
  if (status == std::errc() && end == bare.data() + bare.size() && !bare.empty()) {
    std::int64_t scaled = 0;
    if (__builtin_mul_overflow(value, static_cast<std::int64_t>(factor), &scaled))
      throw ConfigError("{} is '{}': too large for a 64-bit integer", where, text);
    return scaled;
  }
  if (status == std::errc::result_out_of_range)
    throw ConfigError("{} is '{}': too large for a 64-bit integer", where, text);
  // "1e6" is how many people write a count; it is accepted when it is whole.
  double number = 0;
  const auto [stop, read] = std::from_chars(bare.data(), bare.data() + bare.size(), number);
  if (read == std::errc() && stop == bare.data() + bare.size() && number * factor == std::floor(number * factor) &&
      std::abs(number * factor) < 9e15)
    return static_cast<std::int64_t>(number * factor);
  throw ConfigError("{} is '{}': not an integer", where, text);
}

double parse_number(std::string_view text, std::string_view where) {
  const auto [digits, factor] = split_suffix(text);
  if (has_leading_zero(digits))
    throw ConfigError("{} is '{}': leading zeros are ambiguous, write it without", where, text);
  std::string_view bare = digits;
  if (bare.starts_with('+')) bare.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(bare.data(), bare.data() + bare.size(), value);
  if (status != std::errc() || end != bare.data() + bare.size() || !std::isfinite(value))
    throw ConfigError("{} is '{}': not a number", where, text);
  return value * factor;
}

void assign(const OptionSet& options, const Assignment& assignment) {
  Assigner assigner(assignment);
  options.walk(assigner);
  if (assigner.found()) return;
  const std::string guess = nearest(assignment.path, assigner.paths());
  throw ConfigError("{}: unknown option '{}'{}", assignment.source, assignment.path,
                    guess.empty() ? "; --describe lists all" : fmt::format("; did you mean '{}'?", guess));
}

std::string nearest(std::string_view text, std::span<const std::string> candidates) {
  const std::size_t allowed = std::max<std::size_t>(2, text.size() / 4);
  std::size_t best = allowed + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(text, candidate);
    // A key given without its group is meant as well: "layers" for "model.layers".
    if (const std::size_t dot = candidate.find_last_of('.'); dot != std::string::npos)
      distance = std::min(distance, edit_distance(text, std::string_view(candidate).substr(dot + 1)) + 1);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace eflops
