#pragma once

#include <array>
#include <string_view>

#include "base/clock.h"

namespace eflops::train {

/// The parts of a training run that time is split into.
enum class Stage { Data, ForwardBackward, Reduce, Optimizer, Evaluate, Save };
inline constexpr std::array<std::string_view, 6> kStageNames{"data",      "forward_backward", "reduce",
                                                             "optimizer", "evaluate",         "save"};

/// Adds up wall time by stage. lap(stage) books the time since the last lap, or since construction.
class StageClock {
 public:
  void lap(Stage stage) {
    const double now = total_.seconds();
    seconds_[static_cast<std::size_t>(stage)] += now - last_;
    last_ = now;
  }
  double seconds(Stage stage) const { return seconds_[static_cast<std::size_t>(stage)]; }
  double total() const { return total_.seconds(); }
  /// Everything but evaluations and checkpoints: what speeds and MFU are measured over.
  double training() const { return total() - seconds(Stage::Evaluate) - seconds(Stage::Save); }

 private:
  Stopwatch total_;
  double last_ = 0;
  std::array<double, kStageNames.size()> seconds_{};
};

}  // namespace eflops::train
