#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/yaml_file.h"

namespace eflops::experiment {

/// How the points of an experiment are run. The group `experiment` of its file, beside `experiment.sweep`.
struct ExperimentOptions {
  std::string name = "";  ///< empty: the file's name without .yaml
  std::int64_t launches = 1;
  bool shuffle = false;
  std::int64_t seed = 1;
  double timeout = 3600;
  std::int64_t retry = 0;
  std::vector<std::string> launcher;

  void visit_fields(OptionVisitor& v);
};

/// One setting of the swept options.
struct Point {
  std::string name;                     ///< "transport=shm ranks=2"; "all" where nothing is swept
  std::vector<Assignment> assignments;  ///< all of the program's, the swept ones in place of the file's own
};

/// An experiment file in full.
struct Experiment {
  std::string program;  ///< "eflops-bench allreduce"
  ExperimentOptions options;
  std::vector<Point> points;
};

/// True of what is said to eflops-run and not to the program.
bool is_of_experiment(const Assignment& assignment);

/// The experiment that a file describes, with every point, in this order: `sweep.list.NAME.OPTION` gives a point a
/// NAME; each is combined with every place of `sweep.zip.OPTION: [..]` (lists of one length, side by side) and with
/// every combination of `sweep.product.OPTION: [..]` (the last option turns fastest). Points in which every option has
/// the value that some `sweep.except.NAME.OPTION` names are left out. Without a sweep there is one point. ConfigError
/// names file, line and key: no `program:`, lists of several lengths, an option swept twice, an exception of an option
/// that no point has, no point left, more than 100,000 points.
Experiment expand(const config::YamlFile& file);

/// The configuration file of a point: `program:` and one line for each option.
std::string config_text(const std::string& program, const std::vector<Assignment>& assignments);

}  // namespace eflops::experiment
