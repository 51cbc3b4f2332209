#include "bench/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/stats.h"
#include "bench/bandwidth.h"

namespace eflops::bench {
namespace {

constexpr const char* kLayout = "{:>13} {:>12} {:>5} {:<20} {:>5} {:>9} {:>9} {:>9} {:>9} {:>19} {:>8} {:>8} {:>7}  {}";

/// Without blanks at the end, and with a line break.
std::string finished(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  line += '\n';
  return line;
}

/// Microseconds in nine columns: fewer decimals where the number is long.
std::string microseconds(double seconds) {
  const double us = seconds * 1e6;
  return us < 99999 ? fmt::format("{:.2f}", us) : us < 9999999 ? fmt::format("{:.0f}", us) : fmt::format("{:.2e}", us);
}

std::string rate(std::optional<double> value) {
  if (!value) return "n/a";
  return *value < 1000 ? fmt::format("{:.3f}", *value) : fmt::format("{:.1f}", *value);
}

Bandwidth bandwidth_of(const TableHead& head, const TableRow& row) {
  return bandwidth(head.collective, head.ranks, row.bytes, stats::median(row.result.seconds));
}

/// Bus bandwidths (algorithm bandwidths for one rank) of the rows that ran.
std::vector<double> rates_of(const TableHead& head, const std::vector<TableRow>& rows) {
  std::vector<double> rates;
  for (const TableRow& row : rows) {
    if (row.result.seconds.empty()) continue;
    const Bandwidth found = bandwidth_of(head, row);
    rates.push_back(found.bus.value_or(found.algorithm));
  }
  return rates;
}

std::int64_t wrong_in(const std::vector<TableRow>& rows) {
  std::int64_t wrong = 0;
  for (const TableRow& row : rows) wrong += row.result.wrong;
  return wrong;
}

std::string nccl_element(const std::string& element) {
  const std::map<std::string, std::string> names = {
      {"f32", "float"}, {"f64", "double"}, {"f16", "half"},   {"bf16", "bfloat16"}, {"i8", "int8"},
      {"u8", "uint8"},  {"i32", "int32"},  {"u32", "uint32"}, {"i64", "int64"},     {"u64", "uint64"}};
  const auto found = names.find(element);
  return found == names.end() ? element : found->second;
}

std::string nccl_half(const TableHead& head, const TableRow* row) {
  if (row == nullptr || row->result.seconds.empty())
    return fmt::format("{:>9}{:>8}{:>8}{:>7}", "N/A", "N/A", "N/A", "N/A");
  const Bandwidth found = bandwidth_of(head, *row);
  return fmt::format("{:>9}{:>8.2f}{:>8.2f}{:>7}", microseconds(stats::median(row->result.seconds)), found.algorithm,
                     found.bus.value_or(0), row->is_checked ? std::to_string(row->result.wrong) : "N/A");
}

}  // namespace

std::string columns() {
  const auto line = [](const std::string& text) { return finished(fmt::format("#{}", text.substr(1))); };
  return line(fmt::format(kLayout, "size", "count", "place", "algorithm", "n", "min", "p50", "p99", "max", "ci95",
                          "algbw", "busbw", "wrong", "note")) +
         line(fmt::format(kLayout, "(B)", "(elements)", "", "", "", "(us)", "(us)", "(us)", "(us)", "(us)", "(GB/s)",
                          "(GB/s)", "", ""));
}

std::string line_of(const TableHead& head, const TableRow& row) {
  const char* const place = row.place == Place::Out ? "out" : "in";
  const std::vector<double>& seconds = row.result.seconds;
  if (seconds.empty()) {
    return finished(fmt::format(kLayout, row.bytes, row.count, place, row.algorithm, 0, "-", "-", "-", "-", "-", "-",
                                "-", "n/a", row.note));
  }
  const auto [fastest, slowest] = std::ranges::minmax(seconds);
  const stats::Interval interval = stats::median_interval(seconds);
  const Bandwidth found = bandwidth_of(head, row);
  std::string note = row.note;
  // The 99th percentile of fewer than 100 samples is an interpolation below the largest.
  if (note.empty() && !row.result.is_precise) note = "ci95 wide";
  return finished(fmt::format(
      kLayout, row.bytes, row.count, place, row.algorithm, seconds.size(), microseconds(fastest),
      microseconds(stats::median(seconds)), microseconds(stats::quantile(seconds, 0.99)), microseconds(slowest),
      fmt::format("{}-{}", microseconds(interval.low), microseconds(interval.high)), rate(found.algorithm),
      rate(found.bus), row.is_checked ? std::to_string(row.result.wrong) : "n/a", note));
}

std::string footer(const TableHead& head, const std::vector<TableRow>& rows) {
  const std::vector<double> rates = rates_of(head, rows);
  const std::int64_t wrong = wrong_in(rows);
  const auto unchecked = std::count_if(rows.begin(), rows.end(),
                                       [](const auto& row) { return !row.result.seconds.empty() && !row.is_checked; });
  std::string text = fmt::format("# wrong elements: {}{}\n", wrong, wrong == 0 ? "" : "   FAILED");
  if (unchecked > 0) text += fmt::format("# not checked: {} of {} rows\n", unchecked, rows.size());
  text += fmt::format("# rows: {} ran, {} did not\n", rates.size(), rows.size() - rates.size());
  if (!rates.empty()) {
    text += fmt::format("# {} bandwidth: peak {:.3f} GB/s, mean over rows {:.3f} GB/s\n",
                        head.ranks > 1 ? "bus" : "algorithm", *std::ranges::max_element(rates), stats::mean(rates));
  }
  return text;
}

std::string nccl_columns() {
  return "#                                                              out-of-place                       in-place\n"
         "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
         "busbw "
         "#wrong\n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
         "(GB/s)\n";
}

std::string nccl_line(const TableHead& head, const TableRow* out, const TableRow* in) {
  const TableRow& any = out != nullptr ? *out : *in;
  return fmt::format("{:>12}{:>14}{:>10}{:>8}{:>8}{}{}\n", any.bytes, any.count, nccl_element(head.element),
                     head.reduction, head.root, nccl_half(head, out), nccl_half(head, in));
}

std::string nccl_footer(const TableHead& head, const std::vector<TableRow>& rows) {
  const std::vector<double> rates = rates_of(head, rows);
  const std::int64_t wrong = wrong_in(rows);
  return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g}\n#\n", wrong,
                     wrong == 0 ? "OK" : "FAILED", rates.empty() ? 0.0 : stats::mean(rates));
}

}  // namespace eflops::bench
