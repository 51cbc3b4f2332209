#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/options.h"

namespace eflops::train {

/// What to do when a loss or a gradient is NaN or infinite.
enum class OnNan { Stop, Skip };

/// Length and cadences of a run, all in optimiser steps.
struct LoopOptions {
  std::int64_t steps = 1000;
  std::int64_t log_every = 10;
  std::int64_t evaluate_every = 500;
  std::int64_t save_every = 500;
  OnNan on_nan = OnNan::Stop;
  bool tensorboard = false;

  void visit_fields(OptionVisitor& v);
};

}  // namespace eflops::train

namespace eflops {

template <>
struct Choices<train::OnNan> {
  static constexpr std::pair<train::OnNan, std::string_view> kEntries[] = {{train::OnNan::Stop, "stop"},
                                                                           {train::OnNan::Skip, "skip"}};
};

}  // namespace eflops
