#include "programs/command_line_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/programs/sample_options.h"

namespace eflops::programs {
namespace {

using ::testing::HasSubstr;

class Help : public ::testing::Test {
 protected:
  SampleOptions options_;
  NoOptions none_;
  Program program_{.name = "eflops-sample",
                   .help = "shows options",
                   .verbs = {{.help = "says hello", .options = OptionSet(none_), .run = {}},
                             {.name = "show",
                              .help = "prints every option",
                              .options = OptionSet(options_),
                              .run = {},
                              .positional = "input",
                              .examples = {"eflops-sample show --lr 1e-3"}}}};
  const Verb& show_ = program_.verbs[1];
};

TEST_F(Help, CoversEveryOptionWithDefaultUnitAndRange) {
  const std::string text = verb_help(program_, show_);
  for (const FieldDescription& field : describe(show_.options)) {
    EXPECT_THAT(text, HasSubstr(field.path));
    EXPECT_THAT(text, HasSubstr(field.help));
  }
  EXPECT_THAT(text, HasSubstr("(default 8 items; also -n --number-of-items)"));
  EXPECT_THAT(text, HasSubstr("--model.layers INTEGER"));
  EXPECT_THAT(text, HasSubstr("(default 2; 1 to 96)"));
  EXPECT_THAT(text, HasSubstr("--[no-]model.tied"));
  EXPECT_THAT(text, HasSubstr("--mode fast|very-slow"));
  EXPECT_THAT(text, HasSubstr("optimizer - how weights move:"));
}

TEST_F(Help, TeachesSourcesExamplesAndExitCodes) {
  const std::string text = verb_help(program_, show_);
  for (const char* part : {"usage: eflops-sample show [input...]", "--config FILE", "--describe[=json]", "--dry-run",
                           "examples:\n  eflops-sample show --lr 1e-3", "exit codes:\n  0 done", "75 interrupted",
                           "EFLOPS_CONFIG_PATH", "defaults < --config files < environment"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST_F(Help, OfAProgramListsItsVerbs) {
  const std::string text = program_help(program_);
  EXPECT_THAT(text, HasSubstr("  (none)                          says hello\n"));
  EXPECT_THAT(text, HasSubstr("  show                            prints every option\n"));
  EXPECT_THAT(text, HasSubstr("exit codes:"));
}

TEST_F(Help, LinesFitATerminal) {
  std::istringstream lines(verb_help(program_, show_));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST_F(Help, DescribeCoversEveryField) {
  const std::string text = describe_text(program_, {&show_});
  EXPECT_THAT(text, HasSubstr("optimizer.learning_rate = 0.0001  (number, 0 to 1)\n    peak learning rate\n"
                              "    flags --optimizer.learning_rate --learning_rate --lr; environment "
                              "EFLOPS_OPTIMIZER_LEARNING_RATE; changes the result\n"));
  EXPECT_THAT(text, HasSubstr("mode = fast  (one of fast|very-slow)"));
  for (const FieldDescription& field : describe(show_.options)) EXPECT_THAT(text, HasSubstr("\n" + field.path + " = "));
}

TEST_F(Help, DescribeAsJsonHasEveryPropertyOfEveryField) {
  const Json described = describe_json(program_, {&program_.verbs[0], &show_});
  EXPECT_EQ(described["program"], "eflops-sample");
  ASSERT_EQ(described["verbs"].size(), 2U);
  EXPECT_TRUE(described["verbs"][0]["options"].empty());
  const Json& options = described["verbs"][1]["options"];
  const std::vector<FieldDescription> fields = describe(show_.options);
  ASSERT_EQ(options.size(), fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    EXPECT_EQ(options[i]["path"], fields[i].path);
    for (const char* key : {"type", "default", "unit", "help", "group", "choices", "flags", "minimum", "maximum",
                            "environment", "changes_result"})
      EXPECT_TRUE(options[i].contains(key)) << fields[i].path << " " << key;
  }
  const auto rate = std::ranges::find_if(options, [](const Json& o) { return o["path"] == "optimizer.learning_rate"; });
  EXPECT_EQ((*rate)["maximum"], 1.0);
  EXPECT_EQ((*rate)["group"], "optimizer");
  EXPECT_TRUE(options[1]["minimum"].is_null());
}

}  // namespace
}  // namespace eflops::programs
