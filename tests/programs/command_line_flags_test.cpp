#include "programs/command_line_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/programs/sample_options.h"

namespace eflops::programs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

FlagTable sample_table(std::string_view positional = "input") {
  SampleOptions options;
  return {OptionSet(options), positional};
}

std::string error_of(const Words& typed, std::string_view positional = "input") {
  try {
    sample_table(positional).strict(typed);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

struct Line {
  Words typed;
  Words strict;
};

class Strict : public ::testing::TestWithParam<Line> {};

TEST_P(Strict, HasOneReading) { EXPECT_EQ(sample_table().strict(GetParam().typed).words, GetParam().strict); }

INSTANTIATE_TEST_SUITE_P(
    Names, Strict,
    ::testing::Values(Line{{"--count", "3"}, {"--count", "3"}}, Line{{"--count=3"}, {"--count", "3"}},
                      Line{{"--optimizer.learning_rate", "1e-3"}, {"--optimizer.learning_rate", "1e-3"}},
                      Line{{"--optimizer.learning-rate=1e-3"}, {"--optimizer.learning_rate", "1e-3"}},
                      Line{{"--learning-rate", "1e-3"}, {"--optimizer.learning_rate", "1e-3"}},
                      Line{{"--lr", "1e-3"}, {"--optimizer.learning_rate", "1e-3"}},
                      Line{{"--number_of_items", "3"}, {"--count", "3"}}, Line{{"-n", "3"}, {"--count", "3"}},
                      Line{{"-n3"}, {"--count", "3"}}, Line{{"-n=3"}, {"--count", "3"}},
                      Line{{"lr=1e-3"}, {"--optimizer.learning_rate", "1e-3"}}));

INSTANTIATE_TEST_SUITE_P(Values, Strict,
                         ::testing::Values(
                             // C29: a value may begin with '-' when it is a number or stands behind '='.
                             Line{{"--count", "-10"}, {"--count", "-10"}}, Line{{"--count=-10"}, {"--count", "-10"}},
                             Line{{"-n", "-10"}, {"--count", "-10"}},
                             Line{{"--lr", "-.5"}, {"--optimizer.learning_rate", "-.5"}},
                             Line{{"--lr=-.5"}, {"--optimizer.learning_rate", "-.5"}},
                             Line{{"lr=-.5"}, {"--optimizer.learning_rate", "-.5"}},
                             Line{{"--text", "-x"}, {"--text", "-x"}}, Line{{"--text=--count"}, {"--text", "--count"}},
                             Line{{"--text="}, {"--text", ""}}, Line{{"--text", ""}, {"--text", ""}},
                             Line{{"--text=a=b"}, {"--text", "a=b"}}, Line{{"--text", "[MASK]"}, {"--text", "[MASK]"}},
                             Line{{"--text", "a", "--text", "b"}, {"--text", "a", "--text", "b"}},
                             Line{{"--input", "a,b", "--input=c"}, {"--input", "a,b", "--input", "c"}}));

INSTANTIATE_TEST_SUITE_P(
    Switches, Strict,
    ::testing::Values(Line{{"--verbose"}, {"--verbose", "true"}}, Line{{"--verbose=false"}, {"--verbose", "false"}},
                      Line{{"--verbose", "false"}, {"--verbose", "false"}},
                      Line{{"--verbose", "True"}, {"--verbose", "true"}},
                      Line{{"--no-verbose"}, {"--verbose", "false"}}, Line{{"--no_verbose"}, {"--verbose", "false"}},
                      Line{{"--no-tied"}, {"--model.tied", "false"}},
                      Line{{"--no-model.tied"}, {"--model.tied", "false"}},
                      Line{{"--verbose", "a.txt"}, {"--verbose", "true", "--input", "a.txt"}},
                      Line{{"-q", "-h"}, {"--quiet", "true", "--help", "true"}},
                      Line{{"--dry-run", "--describe=json"}, {"--dry_run", "true", "--describe", "json"}}));

INSTANTIATE_TEST_SUITE_P(WordsWithoutAFlag, Strict,
                         ::testing::Values(Line{{"a.txt", "b,c.txt"}, {"--input", "a.txt", "--input", "b\\,c.txt"}},
                                           Line{{"--", "--count", "-x"}, {"--input", "--count", "--input", "-x"}},
                                           Line{{"./a=b"}, {"--input", "./a=b"}}, Line{{"-"}, {"--input", "-"}},
                                           Line{{"dir/count=3"}, {"--input", "dir/count=3"}}));

TEST(StrictError, NamesTheNearestFlag) {
  EXPECT_EQ(error_of({"--cuont", "3"}), "unknown option --cuont; did you mean --count?");
  EXPECT_EQ(error_of({"--lerning-rate", "3"}), "unknown option --lerning-rate; did you mean --learning_rate?");
  EXPECT_EQ(error_of({"--qwertyuiop"}), "unknown option --qwertyuiop; --help lists them");
  EXPECT_EQ(error_of({"-z"}), "unknown option -z; --help lists them");
  EXPECT_EQ(error_of({"-count", "3"}), "unknown option -count; did you mean --count?");
  EXPECT_EQ(error_of({"cuont=3"}), "unknown option cuont; did you mean --count?");
}

TEST(StrictError, SaysWhatIsMissingOrTooMuch) {
  EXPECT_EQ(error_of({"--count"}), "--count needs a value");
  EXPECT_EQ(error_of({"-n"}), "-n needs a value");
  EXPECT_EQ(error_of({"--count", "--text"}), "--count needs a value, but '--text' follows");
  EXPECT_EQ(error_of({"--no-verbose=true"}), "--no-verbose takes no value");
  EXPECT_EQ(error_of({"--no-count"}), "--no-count: count is no switch but integer");
  EXPECT_EQ(error_of({"a.txt"}, ""), "unexpected 'a.txt': options are written --name value or name=value");
  EXPECT_EQ(error_of({"-5"}, ""), "unexpected '-5': options are written --name value or name=value");
  EXPECT_EQ(error_of({"a", "b"}, "text"), "unexpected 'b': text is given already");
}

TEST(StrictError, AKeyOfTwoGroupsIsAmbiguous) {
  EXPECT_EQ(error_of({"--layers", "3"}), "'layers' means several options: --optimizer.layers, --model.layers");
  EXPECT_EQ(error_of({"--model.layers", "3"}), "no error");
}

TEST(FlagTable, RemembersHowAFlagWasSpelled) {
  const StrictWords words = sample_table().strict({"--lr", "1", "--lr=2", "-n", "3", "text=x"});
  EXPECT_EQ(words.spelled.at("optimizer.learning_rate"), "--lr");
  EXPECT_EQ(words.spelled.at("count"), "-n");
  EXPECT_EQ(words.spelled.at("text"), "text=");
}

TEST(FlagTable, ListsEverySpelling) {
  const FlagTable table = sample_table();
  EXPECT_THAT(table.spellings(*table.field("count")), ElementsAre("--count", "-n", "--number-of-items"));
  EXPECT_THAT(table.spellings(*table.field("optimizer.learning_rate")),
              ElementsAre("--optimizer.learning_rate", "--learning_rate", "--lr"));
  EXPECT_THAT(table.spellings(*table.field("model.layers")), ElementsAre("--model.layers"));
  for (const FieldDescription& field : table.fields())
    for (const std::string& flag : table.spellings(field))
      EXPECT_EQ(table.resolve(flag.substr(flag.find_first_not_of('-'))), field.path) << flag;
}

struct Colliding {
  std::string a;
  std::string b;
  std::string alias_of_b = "x";
  void visit_fields(OptionVisitor& v) {
    v("a", a, "a", {.aliases = {"x"}});
    v("b", b, "b", {.aliases = {alias_of_b}});
  }
};

TEST(FlagTable, TwoOptionsOfOneSpellingAreAFaultOfOurs) {
  Colliding same;
  EXPECT_THROW(FlagTable(OptionSet(same), ""), InternalError);
  Colliding path{.a = "", .b = "", .alias_of_b = "a"};
  EXPECT_THROW(FlagTable(OptionSet(path), ""), InternalError);
  Colliding common{.a = "", .b = "", .alias_of_b = "dry-run"};
  EXPECT_THROW(FlagTable(OptionSet(common), ""), InternalError);
}

TEST(SplitList, CommasSeparateUnlessEscaped) {
  EXPECT_THAT(split_list("a,b"), ElementsAre("a", "b"));
  EXPECT_THAT(split_list("a\\,b,c"), ElementsAre("a,b", "c"));
  EXPECT_THAT(split_list("a,,b"), ElementsAre("a", "", "b"));
  EXPECT_THAT(split_list("a\\b"), ElementsAre("a\\b"));
  EXPECT_THAT(split_list(""), IsEmpty());
}

}  // namespace
}  // namespace eflops::programs
