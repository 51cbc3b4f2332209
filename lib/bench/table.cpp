#include "bench/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/table_formats.h"

namespace eflops::bench {
namespace {

constexpr const char* kLayout =
    "{:>13} {:>12} {:>5} {:<20} {:>5} {:>9} {:>9} {:>9} {:>9} {:>19} {:>8} {:>8} {:>8} {:>6} {:>7}  {}";

/// Without blanks at the end, and with a line break.
std::string finished(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  line += '\n';
  return line;
}

std::string rate(std::optional<double> value) {
  if (!value) return "n/a";
  return *value < 1000 ? fmt::format("{:.3f}", *value) : fmt::format("{:.1f}", *value);
}

}  // namespace

std::vector<double> rates_of(const TableHead& head, const std::vector<TableRow>& rows) {
  std::vector<double> rates;
  for (const TableRow& row : rows) {
    if (row.result.seconds.empty()) continue;
    const Bandwidth found = bandwidth(head.collective, head.ranks, row.bytes, stats::median(row.result.seconds));
    rates.push_back(found.bus.value_or(found.algorithm));
  }
  return rates;
}

std::int64_t wrong_in(const std::vector<TableRow>& rows) {
  std::int64_t wrong = 0;
  for (const TableRow& row : rows) wrong += row.result.wrong;
  return wrong;
}

Figures figures_of(const TableHead& head, const TableRow& row) {
  const std::vector<double>& seconds = row.result.seconds;
  Figures figures{.fastest = *std::ranges::min_element(seconds),
                  .median = stats::median(seconds),
                  .p99 = stats::quantile(seconds, 0.99),
                  .slowest = *std::ranges::max_element(seconds),
                  .interval = stats::median_interval(seconds),
                  .bandwidth = {},
                  .port = {},
                  .of_line = {},
                  .note = row.note};
  figures.bandwidth = bandwidth(head.collective, head.ranks, row.bytes, figures.median);
  if (row.port_bytes) figures.port = static_cast<double>(*row.port_bytes) / figures.median * 1e-9;
  figures.of_line = share_of_line(head.line, head.collective, row.place, row.bytes, row.port_bytes, figures.median);
  if (figures.note.empty() && !row.result.is_precise) figures.note = "ci95 wide";
  return figures;
}

std::string columns() {
  const auto line = [](const std::string& text) { return finished(fmt::format("#{}", text.substr(1))); };
  return line(fmt::format(kLayout, "size", "count", "place", "algorithm", "n", "min", "p50", "p99", "max", "ci95",
                          "algbw", "busbw", "nicbw", "line", "wrong", "note")) +
         line(fmt::format(kLayout, "(B)", "(elements)", "", "", "", "(us)", "(us)", "(us)", "(us)", "(us)", "(GB/s)",
                          "(GB/s)", "(GB/s)", "(%)", "", ""));
}

std::string line_of(const TableHead& head, const TableRow& row) {
  const char* const place = row.place == Place::Out ? "out" : "in";
  const std::vector<double>& seconds = row.result.seconds;
  if (seconds.empty()) {
    return finished(fmt::format(kLayout, row.bytes, row.count, place, row.algorithm, 0, "-", "-", "-", "-", "-", "-",
                                "-", "-", "-", "n/a", row.note));
  }
  const Figures figures = figures_of(head, row);
  return finished(
      fmt::format(kLayout, row.bytes, row.count, place, row.algorithm, seconds.size(), microseconds(figures.fastest),
                  microseconds(figures.median), microseconds(figures.p99), microseconds(figures.slowest),
                  fmt::format("{}-{}", microseconds(figures.interval.low), microseconds(figures.interval.high)),
                  rate(figures.bandwidth.algorithm), rate(figures.bandwidth.bus), rate(figures.port),
                  figures.of_line ? fmt::format("{:.1f}", *figures.of_line * 100) : "-",
                  row.is_checked ? std::to_string(row.result.wrong) : "n/a", figures.note));
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

}  // namespace eflops::bench
