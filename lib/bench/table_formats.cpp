#include "bench/table_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eflops::bench {
namespace {

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
  const Figures figures = figures_of(head, *row);
  return fmt::format("{:>9}{:>8.2f}{:>8.2f}{:>7}", microseconds(figures.median), figures.bandwidth.algorithm,
                     figures.bandwidth.bus.value_or(0), row->is_checked ? std::to_string(row->result.wrong) : "N/A");
}

/// Every digit that a double has; empty if not known.
std::string field(std::optional<double> value) { return value ? fmt::format("{}", *value) : ""; }

/// In quotes where it needs them (RFC 4180).
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

}  // namespace

std::string microseconds(double seconds) {
  const double us = seconds * 1e6;
  return us < 99999 ? fmt::format("{:.2f}", us) : us < 9999999 ? fmt::format("{:.0f}", us) : fmt::format("{:.2e}", us);
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

std::string csv_columns() {
  return "collective,ranks,element,reduction,size_bytes,count,place,algorithm,n,min_us,p50_us,p99_us,max_us,"
         "ci95_low_us,ci95_high_us,algbw_GBps,busbw_GBps,nicbw_GBps,line_share,wrong,note\n";
}

std::string csv_line(const TableHead& head, const TableRow& row) {
  const std::string begin = fmt::format(
      "{},{},{},{},{},{},{},{},{}", coll::collective_name(head.collective), head.ranks, head.element, head.reduction,
      row.bytes, row.count, row.place == Place::Out ? "out" : "in", row.algorithm, row.result.seconds.size());
  if (row.result.seconds.empty()) return fmt::format("{},,,,,,,,,,,,{}\n", begin, quoted(row.note));
  const Figures figures = figures_of(head, row);
  return fmt::format("{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{},{},{},{},{}\n", begin, figures.fastest * 1e6,
                     figures.median * 1e6, figures.p99 * 1e6, figures.slowest * 1e6, figures.interval.low * 1e6,
                     figures.interval.high * 1e6, field(figures.bandwidth.algorithm), field(figures.bandwidth.bus),
                     field(figures.port), field(figures.of_line),
                     row.is_checked ? std::to_string(row.result.wrong) : "", quoted(figures.note));
}

}  // namespace eflops::bench
