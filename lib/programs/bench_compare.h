#pragma once

#include <string>
#include <vector>

#include "base/options.h"

namespace eflops::programs {

/// `eflops-bench compare BEFORE AFTER`: did a change make anything slower?
struct CompareOptions {
  std::vector<std::string> records;  ///< two files
  std::string measurement = "iteration_time";
  double tolerance = 0.02;
  std::vector<std::string> ignore;
  bool unchecked = false;
  bool gate = false;

  void visit_fields(OptionVisitor& v);
};

/// Prints a line a case and what one side alone has. With `gate`, CheckFailed if a case is slower or missing after.
void run_compare(const CompareOptions& options);

}  // namespace eflops::programs
