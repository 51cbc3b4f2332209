#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/stats.h"
#include "records/record.h"

namespace eflops::records {

/// What a change did to one case.
enum class Change {
  Faster,     ///< the whole interval of the ratio lies below 1
  Slower,     ///< above 1
  Same,       ///< within the tolerance around 1
  Undecided,  ///< none of these, or fewer than 5 launches on a side
};
std::string_view change_name(Change change);

/// One case that both sides measured. A launch is one start of the program; its value is the median of its samples.
struct Comparison {
  std::string name;  ///< the facts that make the case: "size_bytes=1024 place=out algorithm=ring ..."
  std::string unit;
  double before = 0;  ///< median over launches
  double after = 0;
  double ratio = 0;          ///< after / before
  stats::Interval interval;  ///< 95 % of the ratio, bootstrap over launches (DESIGN 5)
  std::int64_t launches_before = 0;
  std::int64_t launches_after = 0;
  Change change = Change::Undecided;
};

struct ComparisonReport {
  std::vector<Comparison> cases;         ///< in the order of `before`
  std::vector<std::string> only_before;  ///< names of cases that one side alone has
  std::vector<std::string> only_after;
  std::int64_t left_out = 0;  ///< records that are not complete
};

struct ComparisonRequest {
  std::string measurement = "iteration_time";  ///< less is better
  double tolerance = 0.02;                     ///< what counts as the same, as a share
  bool unchecked = false;                      ///< also records whose results nobody checked
  std::set<std::string> ignore;                ///< facts in which the sides may differ
};

/// Compares cases: records of the same program, ranks and facts, save the facts that say how a launch went (launch,
/// wrong, precise, note, line_GBps, mean_of) and those of `ignore`. DataError if the sides have no case in common.
ComparisonReport compare(std::span<const Record> before, std::span<const Record> after,
                         const ComparisonRequest& request);

}  // namespace eflops::records
