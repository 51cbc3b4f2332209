#include "programs/pretrain_showcase.h"

#include <gmock/gmock.h>

#include <sstream>

#include "pretrain_testing.h"

namespace eflops::programs {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Showcase : public PretrainTest {};

/// `text` with each line's stretch from its first "[" to its last "]" taken out.
std::string outside_brackets(const std::string& text) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find('[');
    const std::size_t close = line.rfind(']');
    if (open < close && close != std::string::npos) line.erase(open, close - open + 1);
    kept += line + "\n";
  }
  return kept;
}

TEST_F(Showcase, ShowsWordsOfOneSegmentWithOtherBlanksAsLines) {
  const PretrainOptions all = options(1);
  const PretrainSetup setup = prepare_pretrain(all, {});
  models::StructBert model(setup.model, 1);
  const std::string text =
      showcase(model, *setup.text->held_out(), *setup.text->tokenizer(), {.examples = 40, .span = 3});
  EXPECT_THAT(text, ContainsRegex("blanks it filled in \\([0-9]+ of [0-9]+ right; some with long answers\\):\n"));
  EXPECT_THAT(text, HasSubstr("words it put back into order"));
  EXPECT_THAT(text, ContainsRegex("… .*\\[.+ → .+\\].* …"));
  EXPECT_THAT(text, HasSubstr("___"));
  // The answers of an untrained model may be special pieces; what stands around them may not.
  const std::string around = outside_brackets(text);
  for (const char* noise : {"MASK", "SEP", "CLS"}) EXPECT_THAT(around, Not(HasSubstr(noise)));
}

}  // namespace
}  // namespace eflops::programs
