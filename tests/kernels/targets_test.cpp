#include "kernels/targets.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/kernels/kernel_cases.h"

namespace eflops::kernels {
namespace {

TEST(Targets, EachAvailableOneCanBeUsed) {
  const std::vector<std::string> names = available_targets();
  ASSERT_FALSE(names.empty());
  test::on_every_target([&] { EXPECT_THAT(names, testing::Contains(active_target())); });
  EXPECT_EQ(active_target(), names.front());
}

TEST(Targets, UsingOneDoesNotHideTheOthers) {
  const std::vector<std::string> before = available_targets();
  use_target(before.back());
  EXPECT_EQ(active_target(), before.back());
  EXPECT_EQ(available_targets(), before);
  use_target(before.front());
}

TEST(Targets, AnUnknownOneNamesTheChoices) {
  try {
    use_target("MMX");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'MMX'"));
    EXPECT_THAT(error.what(), testing::HasSubstr(available_targets().front()));
  }
}

}  // namespace
}  // namespace eflops::kernels
