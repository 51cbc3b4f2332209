#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coll/schedule.h"
#include "kernels/reduce.h"

namespace eflops::bench {

/// Data whose reduction has one exact answer in every order of adding, and the check against it.
///
/// Values are small integers, so small that no partial result of any order leaves the range in which the element type
/// is exact (bf16: 256, f16: 2,048, i8: 127 ...); a product is a power of two. They repeat every 4,093 elements, a
/// prime, so that whole blocks in a wrong place do not look right, and change with every run and rank. An average is
/// the exact sum divided once.
class Pattern {
 public:
  static constexpr std::int64_t kPeriod = 4093;

  Pattern(kernels::Element element, kernels::Reduction reduction, const coll::Problem& problem);

  /// What `rank` contributes to run number `run`, in a whole buffer of the problem.
  void fill(std::span<std::byte> buffer, int rank, std::int64_t run) const;
  /// Bytes that no right result has (a NaN, or a number beyond all answers).
  static void poison(std::span<std::byte> buffer);
  /// How many elements of `rank`'s result are not exactly right; where the collective leaves elements open they do not
  /// count.
  std::int64_t count_wrong(std::span<const std::byte> result, int rank, std::int64_t run) const;

 private:
  using Period = std::vector<std::byte>;

  double value(int rank, std::int64_t position, std::int64_t run) const;
  double answer(std::int64_t position, std::int64_t run) const;
  Period period(const auto& value_at) const;
  std::int64_t wrong_in(std::span<const std::byte> result, coll::Range range, std::int64_t first,
                        const Period& expected) const;

  kernels::Element element_;
  kernels::Reduction reduction_;
  coll::Problem problem_;
  std::int64_t element_bytes_;
  std::int64_t largest_;  // value of one rank, so that sums of all stay exact
  int adding_;            // ranks that contribute other values than 0
  int most_twos_;         // factors of two in a product
};

}  // namespace eflops::bench
