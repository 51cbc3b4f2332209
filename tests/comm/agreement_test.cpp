#include "comm/agreement.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/comm/transport_cases.h"

namespace eflops::comm {
namespace {

class Agreement : public testing::TestWithParam<test::TransportCase> {
 protected:
  /// Rank r states facts[r]; all must be told `verdict`.
  void expect_verdict(const std::vector<Facts>& facts, const std::string& verdict) {
    GetParam().run(static_cast<int>(facts.size()), [&](Transport& transport) {
      std::string text;
      try {
        check_agreement(transport, facts[static_cast<std::size_t>(transport.rank())], deadline_after(60));
      } catch (const CommError& error) {
        text = error.what();
      }
      EXPECT_EQ(text, verdict);
    });
  }
};

TEST_P(Agreement, IsSilentWhereAllSayTheSame) {
  const Facts facts{{"count", "100"}, {"type", "f32"}};
  expect_verdict({facts}, "");
  expect_verdict({facts, facts, facts}, "");
}

// known_faults C38: 100 and 150 floats.
TEST_P(Agreement, EveryRankIsToldTheFirstDifference) {
  expect_verdict(
      {{{"type", "f32"}, {"count", "100"}}, {{"type", "f32"}, {"count", "100"}}, {{"type", "f32"}, {"count", "150"}}},
      "ranks disagree: count is 100 on rank 0 and 150 on rank 2");
}

TEST_P(Agreement, FactsThatAreMissingCountToo) {
  expect_verdict({{{"type", "f32"}}, {}}, "ranks disagree: rank 0 states 1 facts and rank 1 0");
}

INSTANTIATE_TEST_SUITE_P(All, Agreement, testing::ValuesIn(test::transport_cases()), test::name_of);

}  // namespace
}  // namespace eflops::comm
