#include "bench/foreign_columns.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace eflops::bench {
namespace {

using Kind = ForeignColumn::Kind;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

ForeignColumn time_of(std::string name) { return {Kind::Value, std::move(name), "s", 1e-6, ""}; }

/// "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time ...": the second time is that of in place.
std::optional<ForeignColumns> nccl_columns_of(std::string_view line) {
  std::vector<std::string> words = words_of(lower(line));
  if (!words.empty() && words[0] == "#") words.erase(words.begin());
  if (words.empty() || words[0] != "size" || !has(words, "time") || !has(words, "algbw") || !has(words, "busbw")) {
    return std::nullopt;
  }
  const bool both = std::ranges::count(words, "time") > 1;
  ForeignColumns found{"nccl-tests", {}};
  std::string place;
  for (const std::string& word : words) {
    ForeignColumn column;
    if (word == "time") {
      place = !both ? "" : place.empty() ? "out" : "in";
      column = time_of("iteration_time");
    } else if (word == "algbw" || word == "busbw") {
      column = {Kind::Value, word, "GB/s", 1, ""};
    } else if (word == "#wrong" || word == "error") {
      // Before 2.13 "error" is the largest difference: 0 is right there too.
      column.kind = Kind::Wrong;
    } else {
      column.kind = word == "size"    ? Kind::Bytes
                    : word == "type"  ? Kind::Element
                    : word == "redop" ? Kind::Reduction
                                      : Kind::Other;
    }
    column.place = place;
    found.columns.push_back(column);
  }
  return found;
}

/// "# Size       Avg Latency(us)   Min Latency(us)": names have single blanks in them.
std::optional<ForeignColumns> osu_columns_of(std::string_view line) {
  if (!line.starts_with("# Size ")) return std::nullopt;
  ForeignColumns found{"OSU", {{Kind::Bytes, "", "", 1, ""}}};
  std::string rest = lower(line.substr(6));
  while (true) {
    const std::size_t begin = rest.find_first_not_of(" \t");
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(rest.find("  ", begin), rest.size());
    const std::string name = rest.substr(begin, end - begin);
    rest.erase(0, end);
    ForeignColumn column;
    if (name.starts_with("avg lat")) column = time_of("iteration_time");
    if (name.starts_with("min lat")) column = time_of("iteration_time_min");
    if (name.starts_with("max lat")) column = time_of("iteration_time_max");
    if (name.starts_with("latency")) column = time_of("latency");
    if (name.starts_with("p50") || name.starts_with("p95") || name.starts_with("p99")) {
      column = time_of("iteration_time_" + name.substr(0, 3));
    }
    if (name.starts_with("bandwidth") || name == "mb/s") column = {Kind::Value, "bandwidth", "GB/s", 1e-3, ""};
    if (name == "messages/s") column = {Kind::Value, "message_rate", "1/s", 1, ""};
    if (name == "iterations") column.kind = Kind::Repetitions;
    if (name == "validation") column.kind = Kind::Validation;
    found.columns.push_back(column);
  }
  if (found.columns.size() < 2) return std::nullopt;
  return found;
}

/// "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]  Mbytes/sec".
std::optional<ForeignColumns> imb_columns_of(std::string_view line) {
  const std::vector<std::string> words = words_of(lower(line));
  if (words.size() < 3 || words[0] != "#bytes" || words[1] != "#repetitions") return std::nullopt;
  ForeignColumns found{"IMB", {}};
  for (const std::string& word : words) {
    ForeignColumn column;
    if (word == "#bytes") column.kind = Kind::Bytes;
    if (word == "#repetitions") column.kind = Kind::Repetitions;
    if (word == "t_avg[usec]") column = time_of("iteration_time");
    if (word == "t_min[usec]") column = time_of("iteration_time_min");
    if (word == "t_max[usec]") column = time_of("iteration_time_max");
    if (word == "t[usec]") column = time_of("latency");
    if (word == "mbytes/sec") column = {Kind::Value, "bandwidth", "GB/s", 1e-3, ""};
    if (word == "msg/sec") column = {Kind::Value, "message_rate", "1/s", 1, ""};
    if (word == "defects") column.kind = Kind::Wrong;
    found.columns.push_back(column);
  }
  return found;
}

}  // namespace

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<ForeignColumns> foreign_columns(std::string_view line) {
  if (auto found = nccl_columns_of(line)) return found;
  if (auto found = osu_columns_of(line)) return found;
  return imb_columns_of(line);
}

}  // namespace eflops::bench
