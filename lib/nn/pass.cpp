#include "nn/pass.h"

#include "base/error.h"
#include "base/random.h"

namespace eflops::nn {

void fill_row_keys(std::span<const std::int32_t> offsets, std::span<const std::uint64_t> sample_keys,
                   std::span<std::uint64_t> keys) {
  EFLOPS_CHECK(offsets.size() == sample_keys.size() + 1, "{} offsets, {} sample keys", offsets.size(),
               sample_keys.size());
  for (std::size_t i = 0; i < sample_keys.size(); ++i) {
    const auto first = static_cast<std::size_t>(offsets[i]);
    const auto last = static_cast<std::size_t>(offsets[i + 1]);
    for (std::size_t row = first; row < last; ++row)
      keys[row] = Random(sample_keys[i], Purpose::Dropout, row - first).next_u64();
  }
}

}  // namespace eflops::nn
