#include "tensor/arena.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace eflops::tensor {
namespace {

TEST(Arena, RewindReusesTheSameMemory) {
  Arena arena(1024);
  arena.allocate({16}, DType::F32);
  const Arena::Mark mark = arena.mark();
  const Tensor first = arena.allocate({100}, DType::F32);
  arena.rewind(mark);
  EXPECT_EQ(arena.allocate({100}, DType::F32).raw(), first.raw());
}

TEST(Arena, EqualStepsReuseOneBlockAfterTheFirst) {
  Arena arena(256);
  std::vector<std::byte*> places;
  for (int step = 0; step < 4; ++step) {
    arena.reset();
    for (const std::int64_t count : {10, 500, 3, 80}) places.push_back(arena.allocate({count}, DType::F32).raw());
  }
  EXPECT_EQ(places[4], places[8]);
  EXPECT_EQ(places[7], places[11]);
  EXPECT_EQ(places[7], places[15]);
  // 10, 500, 3 and 80 floats in whole lines: 64 + 2048 + 64 + 320 bytes, and an eighth more, rounded up to a line.
  EXPECT_EQ(arena.reserved_bytes(), 2816);
}

TEST(Arena, AStepOfAnotherSizeLeavesNoGaps) {
  Arena arena(64);
  for (const std::int64_t count : {100, 130, 90, 131, 132}) {
    arena.reset();
    for (int i = 0; i < 5; ++i) arena.allocate({count}, DType::F32);
  }
  arena.reset();
  EXPECT_LE(arena.reserved_bytes(), arena.peak_bytes() * 9 / 8 + 64);
}

TEST(Arena, ReportsUseAndPeakInWholeCacheLines) {
  Arena arena;
  arena.allocate({16}, DType::F32);  // 64 bytes
  {
    const ArenaScope scope(arena);
    arena.allocate({17}, DType::F32);  // 68 bytes, two lines
    EXPECT_EQ(arena.used_bytes(), 64 + 128);
  }
  EXPECT_EQ(arena.used_bytes(), 64);
  EXPECT_EQ(arena.peak_bytes(), 64 + 128);
}

TEST(Arena, TensorsDoNotOverlap) {
  Arena arena(256);
  std::vector<Tensor> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(arena.allocate({31}, DType::I32));
    std::ranges::fill(all.back().values<std::int32_t>(), i);
  }
  for (int i = 0; i < 20; ++i)
    for (const std::int32_t value : all[static_cast<std::size_t>(i)].values<std::int32_t>()) ASSERT_EQ(value, i);
}

TEST(Arena, PaddingRowsAreZeroEvenInReusedMemory) {
  Arena arena;
  const Tensor dirty = arena.allocate({128, 3}, DType::F32);
  std::ranges::fill(dirty.values<float>(), 7.0F);
  arena.reset();
  const Tensor tensor = arena.allocate_rows({65, 3}, DType::F32);
  ASSERT_EQ(tensor.raw(), dirty.raw());
  EXPECT_EQ(tensor.padded_rows(), 128);
  for (std::int64_t i = 65 * 3; i < 128 * 3; ++i) ASSERT_EQ(tensor.data<float>()[i], 0.0F) << i;
}

TEST(Arena, ATensorOutlivesItsArena) {
  Tensor tensor;
  {
    Arena arena;
    tensor = arena.allocate({4}, DType::F32);
    std::ranges::fill(tensor.values<float>(), 3.0F);
  }
  EXPECT_EQ(tensor.data<float>()[3], 3.0F);
}

TEST(Arena, RewindingForwardIsRefused) {
  Arena arena;
  arena.allocate({4}, DType::F32);
  const Arena::Mark mark = arena.mark();
  arena.reset();
  EXPECT_THROW(arena.rewind(mark), InternalError);
}

}  // namespace
}  // namespace eflops::tensor
