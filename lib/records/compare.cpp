#include "records/compare.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace eflops::records {
namespace {

constexpr std::int64_t kLeastLaunches = 5;
constexpr std::string_view kOfALaunch[] = {"launch", "wrong", "precise", "note", "line_GBps", "mean_of"};

/// Values by launch, in the order of the records.
struct Side {
  std::string unit;
  std::map<std::string, std::vector<double>> samples_of_launch;

  std::vector<double> medians() const {
    std::vector<double> values;
    for (const auto& [launch, samples] : samples_of_launch) values.push_back(stats::median(samples));
    return values;
  }
};

struct Sides {
  std::vector<std::string> names;  // in the order of the records
  std::map<std::string, Side> by_name;
  std::int64_t left_out = 0;
};

std::string text_of(const Fact& fact) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, fact.second);
}

std::string name_of(const Record& record, const std::set<std::string>& ignore) {
  std::string name;
  for (const Fact& fact : record.facts) {
    if (std::ranges::find(kOfALaunch, fact.first) != std::end(kOfALaunch) || ignore.contains(fact.first)) continue;
    name += fmt::format("{}{}={}", name.empty() ? "" : " ", fact.first, text_of(fact));
  }
  if (!ignore.contains("ranks")) name += fmt::format("{}ranks={}", name.empty() ? "" : " ", record.provenance.ranks);
  return name;
}

/// The program's own name for the launch; without one every record is a launch.
std::string launch_of(const Record& record, std::size_t index) {
  for (const Fact& fact : record.facts) {
    if (fact.first == "launch") return text_of(fact);
  }
  return fmt::format("{:09}", index);
}

Sides sides_of(std::span<const Record> records, const ComparisonRequest& request) {
  Sides sides;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    const auto found = std::ranges::find(record.measurements, request.measurement, &Measurement::name);
    const bool counts = record.status == Status::Complete || (request.unchecked && record.status == Status::Unverified);
    if (!counts || found == record.measurements.end()) {
      ++sides.left_out;
      continue;
    }
    const std::string name = name_of(record, request.ignore);
    if (!sides.by_name.contains(name)) sides.names.push_back(name);
    Side& side = sides.by_name[name];
    if (!side.unit.empty() && side.unit != found->unit) {
      throw DataError("{}: {} is in {} and in {}", name, request.measurement, side.unit, found->unit);
    }
    side.unit = found->unit;
    std::vector<double>& samples = side.samples_of_launch[launch_of(record, i)];
    samples.insert(samples.end(), found->samples.begin(), found->samples.end());
  }
  return sides;
}

Change judged(const Comparison& one, double tolerance) {
  if (std::min(one.launches_before, one.launches_after) < kLeastLaunches) return Change::Undecided;
  if (one.interval.low >= 1 - tolerance && one.interval.high <= 1 + tolerance) return Change::Same;
  if (one.interval.high < 1) return Change::Faster;
  if (one.interval.low > 1) return Change::Slower;
  return Change::Undecided;
}

Comparison compared(const std::string& name, const Side& before, const Side& after, double tolerance) {
  if (before.unit != after.unit)
    throw DataError("{}: one side is in {}, the other in {}", name, before.unit, after.unit);
  const std::vector<double> old_values = before.medians();
  const std::vector<double> new_values = after.medians();
  Comparison one{.name = name,
                 .unit = before.unit,
                 .before = stats::median(old_values),
                 .after = stats::median(new_values),
                 .ratio = 0,
                 .interval = stats::bootstrap_ratio_interval(new_values, old_values),
                 .launches_before = std::ssize(old_values),
                 .launches_after = std::ssize(new_values)};
  one.ratio = one.after / one.before;
  one.change = judged(one, tolerance);
  return one;
}

}  // namespace

std::string_view change_name(Change change) {
  constexpr std::string_view kNames[] = {"faster", "slower", "same", "undecided"};
  return kNames[static_cast<std::size_t>(change)];
}

ComparisonReport compare(std::span<const Record> before, std::span<const Record> after,
                         const ComparisonRequest& request) {
  const Sides old_side = sides_of(before, request);
  const Sides new_side = sides_of(after, request);
  ComparisonReport report;
  report.left_out = old_side.left_out + new_side.left_out;
  for (const std::string& name : old_side.names) {
    const auto other = new_side.by_name.find(name);
    if (other == new_side.by_name.end()) {
      report.only_before.push_back(name);
    } else {
      report.cases.push_back(compared(name, old_side.by_name.at(name), other->second, request.tolerance));
    }
  }
  for (const std::string& name : new_side.names) {
    if (!old_side.by_name.contains(name)) report.only_after.push_back(name);
  }
  if (report.cases.empty()) {
    throw DataError("no case is on both sides: {} of {} alone before, {} after{}", report.only_before.size(),
                    request.measurement, report.only_after.size(),
                    report.only_before.empty() || report.only_after.empty()
                        ? ""
                        : fmt::format(" (first '{}' and '{}'; --ignore names facts that may differ)",
                                      report.only_before[0], report.only_after[0]));
  }
  return report;
}

}  // namespace eflops::records
