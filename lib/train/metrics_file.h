#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "train/tensorboard.h"
#include "train/trainable.h"

namespace eflops::train {

/// metrics.jsonl of a run: one line per logged step or evaluation, {"step": n, "kind": "train", ...}. Appended as it
/// goes; a resumed run first drops what an earlier process wrote beyond the checkpoint it goes on from, so that the
/// file reads as if it had never been interrupted.
class MetricsFile {
 public:
  /// Keeps only the lines with step <= `resumed_step`; a torn last line is dropped.
  MetricsFile(const std::filesystem::path& file, std::int64_t resumed_step);
  /// What is appended from here on goes to this file too.
  void mirror_to(EventFile events) { events_ = std::move(events); }
  void append(std::int64_t step, std::string_view kind, std::span<const NamedValue> values);

 private:
  std::filesystem::path file_;
  std::optional<EventFile> events_;
};

}  // namespace eflops::train
