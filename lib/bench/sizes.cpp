#include "bench/sizes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace eflops::bench {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;
constexpr std::size_t kMostSizes = 10000;

/// log2 of the multiple that a suffix names; -1 for none of ours.
int shift_of(std::string_view suffix) {
  if (suffix.empty()) return 0;
  std::string lower;
  for (const char c : suffix) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower == "b") return 0;
  const std::size_t unit = std::string_view("kmgt").find(lower[0]);
  if (unit == std::string_view::npos) return -1;
  const std::string_view rest = std::string_view(lower).substr(1);
  return rest.empty() || rest == "b" || rest == "ib" ? 10 * (static_cast<int>(unit) + 1) : -1;
}

}  // namespace

std::int64_t parse_bytes(std::string_view text, std::string_view what) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  const int shift = shift_of(suffix);
  if (error != std::errc() || number < 0 || shift < 0) {
    throw ConfigError("{}: '{}' is no size; write bytes, or a number with K, M, G or T (times 1024), as in 64K", what,
                      text);
  }
  if (number > (kMostBytes >> shift)) throw ConfigError("{}: '{}' is beyond 2^62 bytes", what, text);
  return number << shift;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::string_view kUnits = "KMGT";
  int shift = 0;
  while (shift < 40 && bytes != 0 && bytes % (std::int64_t{1} << (shift + 10)) == 0) shift += 10;
  if (shift == 0) return std::to_string(bytes);
  return fmt::format("{}{}", bytes >> shift, kUnits[static_cast<std::size_t>(shift / 10 - 1)]);
}

std::vector<std::int64_t> sizes_of(const Sweep& sweep) {
  if (sweep.begin < 0 || sweep.begin > sweep.end) {
    throw ConfigError("sizes: from {} to {} bytes is no sweep", sweep.begin, sweep.end);
  }
  const bool by_factor = sweep.step <= 0;
  if (by_factor && !(sweep.factor > 1) && sweep.begin != sweep.end) {
    throw ConfigError("sizes: give a factor above 1 (it is {}) or a step of at least 1 byte (it is {})", sweep.factor,
                      sweep.step);
  }
  std::vector<std::int64_t> sizes;
  std::int64_t size = sweep.begin;
  while (size <= sweep.end) {
    sizes.push_back(size);
    if (sizes.size() > kMostSizes) throw ConfigError("sizes: the sweep has more than {} sizes", kMostSizes);
    if (size == sweep.end) break;
    if (by_factor) {
      const double next = std::floor(static_cast<double>(size) * sweep.factor);
      if (next > static_cast<double>(sweep.end)) break;
      size = std::max(size + 1, static_cast<std::int64_t>(next));
    } else {
      size += sweep.step;
    }
  }
  return sizes;
}

}  // namespace eflops::bench
