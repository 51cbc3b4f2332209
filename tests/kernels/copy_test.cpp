#include "kernels/copy.h"

#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

// Heads up to a whole line and tails behind the last one, from sources aligned otherwise.
TEST(CopyStreaming, CopiesExactlyTheBytesAtEveryAlignment) {
  std::vector<std::uint8_t> source(1200);
  Random random(3, Purpose::Test);
  for (std::uint8_t& byte : source) byte = static_cast<std::uint8_t>(1 + random.below(255));  // never 0
  test::on_every_target([&] {
    for (const std::int64_t bytes : {0, 1, 31, 63, 64, 65, 127, 128, 255, 257, 1000, 1100}) {
      for (std::int64_t start = 0; start < 64; ++start) {
        std::vector<std::uint8_t> target(1200, 0);
        copy_streaming(target.data() + start, source.data() + 17, bytes);
        for (std::int64_t i = 0; i < std::ssize(target); ++i) {
          const bool inside = i >= start && i < start + bytes;
          const std::uint8_t expected = inside ? source[static_cast<std::size_t>(17 + i - start)] : 0;
          ASSERT_EQ(target[static_cast<std::size_t>(i)], expected) << bytes << " bytes to " << start << ", at " << i;
        }
      }
    }
  });
}

}  // namespace
}  // namespace eflops::kernels
