#pragma once

#include <cstdint>
#include <vector>

#include "data/pretrain_sampler.h"

namespace eflops::data {

/// Were the planned samples used, each once? Sums a hash of every sample that reached the model, and compares count and
/// sum with those of the plan: a sample that was dropped, repeated or exchanged changes them (DESIGN D9, data cover).
class CoverCheck {
 public:
  explicit CoverCheck(StreamPosition start = {}) : start_(start) {}

  /// A batch whose samples are used, every shard of it; its keys must be sample ids.
  void add(const PretrainBatch& batch);
  /// CheckFailed unless exactly the samples from the start to `end` were added, each once.
  void verify(StreamPosition end) const;

  std::int64_t samples() const { return samples_; }

 private:
  StreamPosition start_;
  std::vector<std::int64_t> ended_epochs_;  ///< sizes, from the start's epoch on
  std::int64_t samples_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace eflops::data
