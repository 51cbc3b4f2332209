#include "programs/bench_compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "records/compare.h"

namespace eflops::programs {
namespace {

using records::Change;
using records::Comparison;

/// Four figures, in the unit where they read well.
std::string value_text(double value, const std::string& unit) {
  if (unit != "s") return fmt::format("{:.4g} {}", value, unit);
  if (value < 1e-3) return fmt::format("{:.4g} us", value * 1e6);
  return value < 1 ? fmt::format("{:.4g} ms", value * 1e3) : fmt::format("{:.4g} s", value);
}

void print(const Comparison& one) {
  fmt::print("{:<9} {:>7.3f} {:>15} {:>12} {:>12} {:>9}  {}\n", records::change_name(one.change), one.ratio,
             fmt::format("{:.3f}-{:.3f}", one.interval.low, one.interval.high), value_text(one.before, one.unit),
             value_text(one.after, one.unit), fmt::format("{}/{}", one.launches_before, one.launches_after), one.name);
}

std::int64_t count(const std::vector<Comparison>& cases, Change change) {
  return std::ranges::count(cases, change, &Comparison::change);
}

}  // namespace

void CompareOptions::visit_fields(OptionVisitor& v) {
  v("records", records, "two files of records: before and after");
  v("measurement", measurement, "what is compared; less is better");
  v("tolerance", tolerance, "a ratio so near to 1 is the same", {.min = 0, .max = 1});
  v("ignore", ignore, "facts in which the sides may differ, such as algorithm or transport");
  v("unchecked", unchecked, "also records whose results nobody checked, as of OSU without -c");
  v("gate", gate, "fail if a case is slower, or is missing after");
}

void run_compare(const CompareOptions& options) {
  if (options.records.size() != 2) {
    throw ConfigError("records: compare takes two files, before and after, not {}", options.records.size());
  }
  const records::ComparisonReport report =
      records::compare(records::read_records(options.records[0]), records::read_records(options.records[1]),
                       {.measurement = options.measurement,
                        .tolerance = options.tolerance,
                        .unchecked = options.unchecked,
                        .ignore = {options.ignore.begin(), options.ignore.end()}});
  fmt::print("# {}: after / before, 95 % interval by bootstrap over launches; fewer than 5 a side decide nothing\n",
             options.measurement);
  fmt::print("#{:<8} {:>7} {:>15} {:>12} {:>12} {:>9}  {}\n", "change", "ratio", "ci95", "before", "after", "launches",
             "case");
  for (const Comparison& one : report.cases) print(one);
  for (const std::string& name : report.only_before) fmt::print("# only before: {}\n", name);
  for (const std::string& name : report.only_after) fmt::print("# only after: {}\n", name);
  if (report.left_out > 0) fmt::print("# left out: {} records that are not complete\n", report.left_out);
  const std::int64_t slower = count(report.cases, Change::Slower);
  fmt::print("# {} faster, {} slower, {} the same, {} undecided\n", count(report.cases, Change::Faster), slower,
             count(report.cases, Change::Same), count(report.cases, Change::Undecided));
  if (!options.gate) return;
  if (slower > 0) throw CheckFailed("gate: {} of {} cases are slower", slower, report.cases.size());
  if (!report.only_before.empty()) {
    throw CheckFailed("gate: {} cases are missing after, the first '{}'", report.only_before.size(),
                      report.only_before[0]);
  }
}

}  // namespace eflops::programs
