#pragma once

#include <cstdint>
#include <string>

#include "base/options.h"

namespace eflops::train {

/// How the learning rate falls after (or, for Google, during) the warm-up.
enum class ScheduleKind {
  Google,      ///< from step 0 over all T steps; the warm-up's ramp ends below the peak (google-research/bert)
  HfLinear,    ///< from the end of the warm-up to 0 at T (Hugging Face)
  Polynomial,  ///< as HfLinear, to an end value with a power (Hugging Face)
  Constant,    ///< not at all
  Cosine,      ///< half a cosine from the end of the warm-up to an end value at T
};

/// Learning rate as a function of the optimiser step (not the micro-step). Write T for total_steps, w for the warm-up.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::HfLinear;
  double learning_rate = 1e-4;
  std::int64_t warmup_steps = 0;
  double warmup_ratio = 0.1;
  std::int64_t total_steps = 0;
  double end_learning_rate = 0.0;
  double power = 1.0;
  std::int64_t warmup_start = 0;

  void visit_fields(OptionVisitor& v);

  /// w: warmup_steps, or where that is 0, warmup_ratio of T rounded up (Hugging Face's rule).
  std::int64_t warmup() const;

  /// ConfigError when end_learning_rate exceeds learning_rate.
  void check() const;
};

/// The rate of optimiser step `step` = 0, 1 ...; within [0, learning_rate] for every T, w (also w > T and T = 0) and
/// step, also past T.
///   warm-up, step < w:  peak (step + warmup_start) / w
///   Google:             end + (peak - end) (1 - step / T)^power        (TensorFlow's polynomial_decay from step 0)
///   HfLinear:           peak (T - step) / (T - w)
///   Polynomial:         end + (peak - end) (1 - (step - w) / (T - w))^power
///   Cosine:             end + (peak - end) (1 + cos(pi (step - w) / (T - w))) / 2
double learning_rate(const ScheduleOptions& options, std::int64_t step);

/// "learning rate at step 0: 0, 9: 9e-05, 10: 0.0001, 99: 1.11e-06": steps 0, w - 1, w and T - 1, for the log.
std::string describe_schedule(const ScheduleOptions& options);

}  // namespace eflops::train

template <>
struct eflops::Choices<eflops::train::ScheduleKind> {
  static constexpr std::pair<train::ScheduleKind, std::string_view> kEntries[] = {
      {train::ScheduleKind::Google, "google"},
      {train::ScheduleKind::HfLinear, "hf_linear"},
      {train::ScheduleKind::Polynomial, "polynomial"},
      {train::ScheduleKind::Constant, "constant"},
      {train::ScheduleKind::Cosine, "cosine"}};
};
