#include "programs/command_line_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "tests/programs/sample_options.h"

namespace eflops::programs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Sets one environment variable for the length of a test.
class Environment {
 public:
  Environment(const std::string& name, const std::string& value) : name_(name) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() { ::unsetenv(name_.c_str()); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_;
};

// Flags as the parser of the strict form would return them.
std::vector<Assignment> flags_of(const FlagTable& table, const std::vector<std::string>& typed) {
  const StrictWords words = table.strict(typed);
  ParsedWords parsed;
  for (std::size_t i = 0; i < words.words.size(); i += 2) parsed[words.words[i]].push_back(words.words[i + 1]);
  return flag_assignments(table, parsed, words);
}

// Every subset of the three sources: the highest one present gives the value, and is named as its source.
TEST(Precedence, IsDefaultsConfigEnvironmentFlags) {
  for (int subset = 0; subset < 8; ++subset) {
    SampleOptions options;
    const OptionSet set(options);
    const FlagTable table(set, "");
    std::vector<config::YamlFile> files;
    std::vector<Assignment> flags;
    std::int64_t expected = 8;
    std::string source = "default";
    if ((subset & 1) != 0) {
      files = {config::parse_yaml("count: 10\n", "a.yaml"), config::parse_yaml("\ncount: 11\n", "b.yaml")};
      expected = 11;
      source = "b.yaml:2";
    }
    if ((subset & 2) != 0) {
      ::setenv("EFLOPS_COUNT", "12", 1);
      expected = 12;
      source = "environment EFLOPS_COUNT";
    }
    if ((subset & 4) != 0) {
      flags = flags_of(table, {"count=13", "-n", "14"});
      expected = 14;
      source = "flag -n";
    }
    const Invocation call{.program = "",
                          .command = "",
                          .options = set,
                          .sources = assign_all(set, files, environment_assignments(table), flags)};
    ::unsetenv("EFLOPS_COUNT");
    EXPECT_EQ(options.count, expected) << subset;
    EXPECT_EQ(call.source_of("count"), source) << subset;
  }
}

TEST(EnvironmentVariables, AreThePathInCapitals) {
  EXPECT_EQ(environment_name("optimizer.learning_rate"), "EFLOPS_OPTIMIZER_LEARNING_RATE");
  EXPECT_EQ(environment_name("data"), "");  // EFLOPS_DATA names the folder of real data
  SampleOptions options;
  const FlagTable table{OptionSet(options), ""};
  const Environment one("EFLOPS_OPTIMIZER_WARMUP_STEPS", "7");
  const Environment two("EFLOPS_INPUT", "a,b");
  const Environment reserved("EFLOPS_DATA", "somewhere");
  assign_all(OptionSet(options), {}, environment_assignments(table), {});
  EXPECT_EQ(options.optimizer.warmup_steps, 7);
  EXPECT_THAT(options.input, ElementsAre("a", "b"));
  EXPECT_EQ(options.data, "synthetic");
}

TEST(EnvironmentVariables, AnUnknownOneIsWarnedAbout) {
  SampleOptions options;
  const FlagTable table{OptionSet(options), ""};
  const Environment wrong("EFLOPS_CUONT", "7");
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(environment_assignments(table).empty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("EFLOPS_CUONT is set but names no option here; did you mean EFLOPS_COUNT?"));
}

TEST(EnvironmentVariables, ABadValueNamesTheVariable) {
  SampleOptions options;
  const FlagTable table{OptionSet(options), ""};
  const Environment bad("EFLOPS_COUNT", "0010");
  try {
    assign_all(OptionSet(options), {}, environment_assignments(table), {});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("environment EFLOPS_COUNT: count is '0010'"));
  }
}

TEST(FlagAssignments, ListsAddUpAndScalarsTakeTheLast) {
  SampleOptions options;
  const FlagTable table{OptionSet(options), "input"};
  const auto flags =
      flags_of(table, {"--input", "a,b", "c,d.txt", "--input=e", "--text", "x", "--text", "y,z", "--mode=very_slow"});
  const auto sources = assign_all(OptionSet(options), {}, {}, flags);
  EXPECT_THAT(options.input, ElementsAre("a", "b", "c,d.txt", "e"));
  EXPECT_EQ(options.text, "y,z");
  EXPECT_EQ(options.mode, Mode::VerySlow);
  EXPECT_EQ(sources.at("text"), "flag --text");
}

TEST(FlagAssignments, AFlagReplacesAListFromAFile) {
  SampleOptions options;
  const FlagTable table{OptionSet(options), ""};
  assign_all(OptionSet(options), {config::parse_yaml("input: [a, b]\n", "a.yaml")}, {},
             flags_of(table, {"--input", "c"}));
  EXPECT_THAT(options.input, ElementsAre("c"));
  assign_all(OptionSet(options), {}, {}, flags_of(table, {"--input="}));
  EXPECT_TRUE(options.input.empty());
}

TEST(FlagAssignments, ABadValueNamesTheFlagAsItWasTyped) {
  SampleOptions options;
  const FlagTable table{OptionSet(options), ""};
  try {
    assign_all(OptionSet(options), {}, {}, flags_of(table, {"--lr", "2"}));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "flag --lr: optimizer.learning_rate is 2: out of range (valid: 0 to 1)");
  }
}

TEST(CheckProgram, AcceptsOnlyItsOwnFiles) {
  NoOptions none;
  const Program program{.name = "eflops-data",
                        .help = "",
                        .verbs = {{.name = "shard", .options = OptionSet(none), .run = {}},
                                  {.name = "stat", .options = OptionSet(none), .run = {}}}};
  const auto check = [&](const std::string& named) {
    check_program(config::parse_yaml("program: " + named + "\nx: 1\n", "f.yaml"), program, program.verbs[0]);
  };
  EXPECT_NO_THROW(check("eflops-data shard"));
  EXPECT_NO_THROW(check("data shard"));
  EXPECT_NO_THROW(check("eflops-data"));
  EXPECT_NO_THROW(check_program(config::parse_yaml("x: 1\n", "f.yaml"), program, program.verbs[0]));
  try {
    check("eflops-data stat");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "f.yaml:1: program: is 'eflops-data stat', but this is 'eflops-data shard'");
  }
  EXPECT_THROW(check("eflops-pretrain"), ConfigError);
}

}  // namespace
}  // namespace eflops::programs
