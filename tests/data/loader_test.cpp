#include "data/loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>

namespace eflops::data {
namespace {

using std::chrono::milliseconds;

TEST(Prefetcher, HandsOutItemsInOrder) {
  Prefetcher<std::int64_t> loader([](std::int64_t index) { return index * index; },
                                  {.first = 3, .end = 203, .depth = 5});
  for (std::int64_t index = 3; index < 203; ++index) ASSERT_EQ(loader.next(), index * index);
}

TEST(Prefetcher, MakesNoMoreThanItsDepthAhead) {
  std::atomic<std::int64_t> made{0};
  std::promise<void> third;
  {
    Prefetcher<std::int64_t> loader(
        [&](std::int64_t index) {
          if (++made == 3) third.set_value();
          return index;
        },
        {.depth = 2});
    EXPECT_EQ(loader.next(), 0);
    // One was taken, so the third may be made, and no fourth.
    ASSERT_EQ(third.get_future().wait_for(milliseconds(60'000)), std::future_status::ready);
  }  // the destructor ends the wait for room
  EXPECT_EQ(made, 3);
}

TEST(Prefetcher, AnExceptionComesAtItsPlaceAndStays) {
  Prefetcher<std::int64_t> loader([](std::int64_t index) {
    if (index == 2) throw DataError("shard 2 is damaged");
    return index;
  });
  EXPECT_EQ(loader.next(), 0);
  EXPECT_EQ(loader.next(), 1);
  EXPECT_THROW(loader.next(), DataError);
  EXPECT_THROW(loader.next(), DataError);
}

TEST(Prefetcher, AWaitEndsAtItsDeadline) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  Prefetcher<std::int64_t> loader(
      [&](std::int64_t index) {
        released.wait_for(milliseconds(60'000));
        return index;
      },
      {.timeout = milliseconds(20)});
  EXPECT_THROW(loader.next(), TimeoutError);
  EXPECT_GE(loader.waited_seconds(), 0.02);
  release.set_value();
}

TEST(Prefetcher, RefusesToGoBeyondTheEnd) {
  Prefetcher<std::int64_t> loader([](std::int64_t index) { return index; }, {.end = 1});
  EXPECT_EQ(loader.next(), 0);
  EXPECT_THROW(loader.next(), InternalError);
}

TEST(Prefetcher, CarriesItemsThatCannotBeCopied) {
  Prefetcher<std::unique_ptr<std::string>> loader(
      [](std::int64_t index) { return std::make_unique<std::string>(std::to_string(index)); });
  EXPECT_EQ(*loader.next(), "0");
  EXPECT_EQ(*loader.next(), "1");
}

}  // namespace
}  // namespace eflops::data
