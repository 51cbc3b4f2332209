#pragma once

#include <array>
#include <cstdint>

namespace eflops {

/// What a draw is for; part of its key, so that two uses never share a stream (DESIGN D7). Append only: the numbers are
/// part of what makes a run reproducible.
enum class Purpose : std::uint32_t {
  Initialisation = 1,
  EpochOrder = 2,
  Chunking = 3,
  SentenceOrder = 4,
  MaskedTokens = 5,
  ShuffledTokens = 6,
  Dropout = 7,
  Synthetic = 8,
  Bootstrap = 9,
  Test = 10,
  RankOrder = 11,
};

/// Philox4x32-10 (Salmon et al., SC 2011): four 32-bit words from a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A stream of draws that is a pure function of (seed, purpose, a, b): no state is shared between streams, and a stream
/// can be made anew at any place on any rank. Cheap to construct; not thread-safe, make one per task.
class Random {
 public:
  Random(std::uint64_t seed, Purpose purpose, std::uint64_t a = 0, std::uint64_t b = 0);

  std::uint32_t next_u32();
  std::uint64_t next_u64();
  /// Uniform in [0, 1) with 53 bits.
  double uniform();
  /// Uniform integer in [0, bound) without bias (Lemire 2019); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal (Box-Muller, in double).
  double normal();
  /// Normal truncated to [-2, 2] standard deviations, as TensorFlow's truncated_normal.
  double truncated_normal();

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace eflops
