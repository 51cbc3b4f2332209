#include "experiment/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/options_format.h"

namespace eflops::experiment {
namespace {

constexpr std::string_view kGroup = "experiment.";
constexpr std::size_t kMostPoints = 100'000;

using Setting = std::vector<Assignment>;  // of some options

/// "a-b.c" and "a_b.c" are the same option.
std::string normal(std::string path) {
  std::ranges::replace(path, '-', '_');
  return path;
}

Assignment one_value(const Assignment& from, std::string path, std::size_t index) {
  return {.path = std::move(path), .values = {from.values[index]}, .is_list = false, .source = from.source};
}

/// `path` below `prefix`, or nothing.
std::optional<std::string> below(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix) || path.size() == prefix.size()) return std::nullopt;
  return std::string(path.substr(prefix.size()));
}

/// The parts of `experiment.sweep` as the file has them.
struct Sweep {
  std::vector<Setting> list;
  std::vector<Assignment> zip;
  std::vector<Assignment> product;
  std::vector<Setting> except;

  void take(const Assignment& assignment, const std::string& path) {
    if (const auto option = below(path, "product.")) {
      product.push_back(assignment);
      product.back().path = normal(*option);
    } else if (const auto together = below(path, "zip.")) {
      zip.push_back(assignment);
      zip.back().path = normal(*together);
    } else if (const auto named = below(path, "list.")) {
      add(list, list_names_, assignment, *named);
    } else if (const auto exception = below(path, "except.")) {
      add(except, except_names_, assignment, *exception);
    } else {
      throw ConfigError("{}: experiment.sweep.{}: is no sweep; there are product, zip, list and except",
                        assignment.source, path);
    }
  }

 private:
  static void add(std::vector<Setting>& settings, std::vector<std::string>& names, const Assignment& assignment,
                  const std::string& path) {
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos || assignment.is_list) {
      throw ConfigError("{}: experiment.sweep: '{}' needs a name, an option and one value, as in `first.ranks: 2`",
                        assignment.source, path);
    }
    const std::string name = path.substr(0, dot);
    auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      names.push_back(name);
      settings.emplace_back();
      found = names.end() - 1;
    }
    settings[static_cast<std::size_t>(found - names.begin())].push_back(
        one_value(assignment, normal(path.substr(dot + 1)), 0));
  }

  std::vector<std::string> list_names_;
  std::vector<std::string> except_names_;
};

/// Every setting of `left` followed by every one of `right`.
std::vector<Setting> combined(const std::vector<Setting>& left, const std::vector<Setting>& right) {
  if (left.size() * right.size() > kMostPoints) {
    throw ConfigError("experiment.sweep: more than {} points", kMostPoints);
  }
  std::vector<Setting> all;
  for (const Setting& one : left) {
    for (const Setting& other : right) {
      all.push_back(one);
      all.back().insert(all.back().end(), other.begin(), other.end());
    }
  }
  return all;
}

std::vector<Setting> values_of(const Assignment& option) {
  std::vector<Setting> settings;
  for (std::size_t i = 0; i < option.values.size(); ++i) settings.push_back({one_value(option, option.path, i)});
  if (settings.empty()) throw ConfigError("{}: experiment.sweep: {} has no values", option.source, option.path);
  return settings;
}

std::vector<Setting> side_by_side(const std::vector<Assignment>& options) {
  if (options.empty()) return {{}};
  std::vector<Setting> settings = values_of(options.front());
  for (const Assignment& option : options) {
    if (option.values.size() != settings.size()) {
      throw ConfigError("{}: experiment.sweep.zip: {} has {} values, but {} has {}", option.source, option.path,
                        option.values.size(), options.front().path, settings.size());
    }
    if (&option == &options.front()) continue;
    for (std::size_t i = 0; i < settings.size(); ++i) settings[i].push_back(one_value(option, option.path, i));
  }
  return settings;
}

const Assignment* find(const std::vector<Assignment>& assignments, const std::string& path) {
  const auto found = std::ranges::find_if(assignments, [&](const Assignment& one) { return normal(one.path) == path; });
  return found == assignments.end() ? nullptr : &*found;
}

void refuse_twice(const Setting& setting) {
  for (std::size_t i = 0; i < setting.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (setting[i].path == setting[j].path) {
        throw ConfigError("{}: experiment.sweep: {} is swept at {} too", setting[i].source, setting[i].path,
                          setting[j].source);
      }
    }
  }
}

bool is_excepted(const Point& point, const std::vector<Setting>& exceptions) {
  return std::ranges::any_of(exceptions, [&](const Setting& exception) {
    return std::ranges::all_of(exception, [&](const Assignment& condition) {
      const Assignment* const option = find(point.assignments, condition.path);
      if (option == nullptr) {
        throw ConfigError("{}: experiment.sweep.except: no point says anything of {}", condition.source,
                          condition.path);
      }
      return option->values == condition.values;
    });
  });
}

Point point_of(const Setting& setting, const std::vector<Assignment>& base) {
  Point point{"", base};
  for (const Assignment& swept : setting) {
    point.name += fmt::format("{}{}={}", point.name.empty() ? "" : " ", swept.path, swept.values[0]);
    std::erase_if(point.assignments, [&](const Assignment& one) { return normal(one.path) == swept.path; });
    point.assignments.push_back(swept);
  }
  if (point.name.empty()) point.name = "all";
  return point;
}

}  // namespace

void ExperimentOptions::visit_fields(OptionVisitor& v) {
  v("name", name, "of the experiment and its folder; empty: that of the file");
  v("launches", launches, "how often each point is started; all points once, then all again", {.min = 1, .max = 1000});
  v("shuffle", shuffle, "points in an order drawn from `seed`, another one for each launch");
  v("seed", seed, "of that order");
  v("timeout", timeout, "a point that takes longer is ended and counts as timed out", {.unit = "s", .min = 0.1});
  v("retry", retry, "how often a point that failed is tried again", {.min = 0, .max = 100});
  v("launcher", launcher, "words before the program, as mpirun -n {ranks}; {option} stands for the point's value");
}

bool is_of_experiment(const Assignment& assignment) { return assignment.path.starts_with(kGroup); }

Experiment expand(const config::YamlFile& file) {
  if (file.program.empty()) throw ConfigError("{}: program: is missing in the first line", file.name);
  Experiment experiment{.program = file.program, .options = {}, .points = {}};
  Sweep sweep;
  std::vector<Assignment> base;
  const OptionSet options(experiment.options);
  for (const Assignment& assignment : file.assignments) {
    const auto path = below(assignment.path, kGroup);
    if (!path) {
      base.push_back(assignment);
    } else if (const auto swept = below(*path, "sweep.")) {
      sweep.take(assignment, *swept);
    } else {
      Assignment own = assignment;
      own.path = *path;
      assign(options, own);
    }
  }
  if (experiment.options.name.empty()) experiment.options.name = std::filesystem::path(file.name).stem();
  std::vector<Setting> settings = sweep.list.empty() ? std::vector<Setting>{{}} : sweep.list;
  settings = combined(settings, side_by_side(sweep.zip));
  for (const Assignment& option : sweep.product) settings = combined(settings, values_of(option));
  for (const Setting& setting : settings) {
    refuse_twice(setting);
    Point point = point_of(setting, base);
    if (!is_excepted(point, sweep.except)) experiment.points.push_back(std::move(point));
  }
  if (experiment.points.empty()) throw ConfigError("{}: experiment.sweep.except leaves no point", file.name);
  return experiment;
}

std::string config_text(const std::string& program, const std::vector<Assignment>& assignments) {
  std::string text = fmt::format("program: {}\n", program);
  for (const Assignment& one : assignments) {
    std::string value;
    for (const std::string& word : one.values) value += (value.empty() ? "" : ", ") + yaml_scalar(word);
    text += one.is_list ? fmt::format("{}: [{}]\n", one.path, value) : fmt::format("{}: {}\n", one.path, value);
  }
  return text;
}

}  // namespace eflops::experiment
