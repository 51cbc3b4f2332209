#include "train/schedule.h"

#include <cmath>
#include <numbers>
#include <set>

#include "base/error.h"

namespace eflops::train {
namespace {

/// From peak to end while `remaining` goes from 1 to 0.
double decayed(const ScheduleOptions& options, double remaining) {
  const double range = options.learning_rate - options.end_learning_rate;
  return options.end_learning_rate + range * std::pow(remaining, options.power);
}

}  // namespace

void ScheduleOptions::visit_fields(OptionVisitor& v) {
  v("kind", kind, "decay: google from step 0, the others from the end of the warm-up",
    {.aliases = {"lr_scheduler_type"}});
  v("learning_rate", learning_rate, "peak", {.min = 0, .aliases = {"lr"}});
  v("warmup_steps", warmup_steps, "steps of linear warm-up; 0: by warmup_ratio",
    {.unit = "steps", .min = 0, .aliases = {"num_warmup_steps"}});
  v("warmup_ratio", warmup_ratio, "share of total_steps that warms up; 0: none",
    {.min = 0, .max = 1, .aliases = {"warmup_proportion"}});
  v("total_steps", total_steps, "steps over which the rate falls; 0: those of the run", {.unit = "steps", .min = 0});
  v("end_learning_rate", end_learning_rate, "rate at total_steps (google, polynomial, cosine)", {.min = 0});
  v("power", power, "exponent of the decay (google, polynomial)", {.min = 0});
  v("warmup_start", warmup_start, "0: step 0 has rate 0; 1: step 0 has peak / warm-up", {.min = 0, .max = 1});
}

std::int64_t ScheduleOptions::warmup() const {
  if (warmup_steps > 0) return warmup_steps;
  return static_cast<std::int64_t>(std::ceil(warmup_ratio * static_cast<double>(total_steps)));
}

void ScheduleOptions::check() const {
  if (end_learning_rate > learning_rate)
    throw ConfigError("end_learning_rate {} exceeds learning_rate {}", end_learning_rate, learning_rate);
}

double learning_rate(const ScheduleOptions& options, std::int64_t step) {
  EFLOPS_CHECK(step >= 0 && options.total_steps >= 0 && options.warmup_steps >= 0, "step {} of {}", step,
               options.total_steps);
  const double peak = options.learning_rate;
  const std::int64_t warmup = options.warmup();
  const std::int64_t total = options.total_steps;
  if (step < warmup) return peak * static_cast<double>(step + options.warmup_start) / static_cast<double>(warmup);
  if (options.kind == ScheduleKind::Constant) return peak;
  if (step >= total) return options.kind == ScheduleKind::HfLinear ? 0.0 : options.end_learning_rate;
  // warmup <= step < total from here on, so no denominator is 0.
  const double left = static_cast<double>(total - step);
  const double after_warmup = left / static_cast<double>(total - warmup);
  switch (options.kind) {
    case ScheduleKind::Google:
      return decayed(options, left / static_cast<double>(total));
    case ScheduleKind::HfLinear:
      return peak * after_warmup;
    case ScheduleKind::Polynomial:
      return decayed(options, after_warmup);
    case ScheduleKind::Cosine: {
      const double range = peak - options.end_learning_rate;
      return options.end_learning_rate + range * 0.5 * (1 - std::cos(std::numbers::pi * after_warmup));
    }
    case ScheduleKind::Constant:
      break;
  }
  return peak;
}

std::string describe_schedule(const ScheduleOptions& options) {
  const std::int64_t warmup = options.warmup();
  std::set<std::int64_t> steps;
  for (const std::int64_t step : {std::int64_t{0}, warmup - 1, warmup, options.total_steps - 1})
    if (step >= 0) steps.insert(step);
  std::string text = "learning rate at step ";
  for (const std::int64_t step : steps)
    text += fmt::format("{}{}: {:.3g}", step == 0 ? "" : ", ", step, learning_rate(options, step));
  return text;
}

}  // namespace eflops::train
