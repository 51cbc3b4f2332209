#include "config/yaml_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/options.h"

namespace eflops::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    parse_yaml(text, "f.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(YamlFile, GivesAssignmentsInTheOrderOfTheLines) {
  const YamlFile file = parse_yaml(
      "program: eflops-pretrain\n"
      "# a comment\n"
      "optimizer:\n"
      "  learning-rate: 1e-4   # '-' is '_'\n"
      "  betas: [0.9, 0.999]\n"
      "data:\n"
      "  input:\n"
      "    - a.txt\n"
      "    - \"b, c.txt\"\n"
      "seed: 7\n",
      "f.yaml");
  EXPECT_EQ(file.program, "eflops-pretrain");
  EXPECT_EQ(file.program_source, "f.yaml:1");
  ASSERT_EQ(file.assignments.size(), 4U);
  EXPECT_EQ(file.assignments[0].path, "optimizer.learning_rate");
  EXPECT_THAT(file.assignments[0].values, ElementsAre("1e-4"));
  EXPECT_FALSE(file.assignments[0].is_list);
  EXPECT_EQ(file.assignments[0].source, "f.yaml:4");
  EXPECT_EQ(file.assignments[1].path, "optimizer.betas");
  EXPECT_THAT(file.assignments[1].values, ElementsAre("0.9", "0.999"));
  EXPECT_TRUE(file.assignments[1].is_list);
  EXPECT_EQ(file.assignments[2].path, "data.input");
  EXPECT_THAT(file.assignments[2].values, ElementsAre("a.txt", "b, c.txt"));
  EXPECT_EQ(file.assignments[3].path, "seed");
  EXPECT_EQ(file.assignments[3].source, "f.yaml:10");
}

TEST(YamlFile, KeepsTheTextOfAValue) {
  const YamlFile file = parse_yaml("a: -15850\nb: 0010\nc: ''\nd: \"null\"\ne: [PAD]\nf: '[PAD]'\ng: 0o10\n", "f.yaml");
  std::vector<std::string> values;
  for (const Assignment& assignment : file.assignments) values.push_back(assignment.values.at(0));
  EXPECT_THAT(values, ElementsAre("-15850", "0010", "", "null", "PAD", "[PAD]", "0o10"));
  EXPECT_TRUE(file.assignments[4].is_list);
  EXPECT_FALSE(file.assignments[5].is_list);
}

TEST(YamlFile, AcceptsWindowsLineEndsAndAByteOrderMark) {
  const YamlFile file = parse_yaml("\xEF\xBB\xBFprogram: x\r\na: 1\r\nb: 2\r\n", "f.yaml");
  EXPECT_EQ(file.program, "x");
  ASSERT_EQ(file.assignments.size(), 2U);
  EXPECT_THAT(file.assignments[1].values, ElementsAre("2"));
  EXPECT_EQ(file.assignments[1].source, "f.yaml:3");
}

struct BadFile {
  const char* text;
  const char* message;
};

class YamlFileError : public ::testing::TestWithParam<BadFile> {};

TEST_P(YamlFileError, IsOneLineWithPlaceAndKey) { EXPECT_EQ(error_of(GetParam().text), GetParam().message); }

INSTANTIATE_TEST_SUITE_P(
    Table, YamlFileError,
    ::testing::Values(BadFile{"", "f.yaml: the file is empty"},
                      BadFile{"\n# only a comment\n", "f.yaml: the file is empty"},
                      BadFile{"{}", "f.yaml: the file is empty"},
                      BadFile{"a: 1\nb: 2\na: 3\n", "f.yaml:3: a: repeated key; first on line 1"},
                      BadFile{"a:\n  b: 1\na.b: 2\n", "f.yaml:3: a.b: repeated key; first on line 2"},
                      BadFile{"a_b: 1\na-b: 2\n", "f.yaml:2: a_b: repeated key; first on line 1"},
                      BadFile{"x: 1\na:\n  b:\nc: 2\n",
                              "f.yaml:3: a.b: no value; write one, '' for an empty text, or remove the key"},
                      BadFile{"a: ~\n", "f.yaml:1: a: no value; write one, '' for an empty text, or remove the key"},
                      BadFile{"a: {}\n", "f.yaml:1: a: a group without keys"},
                      BadFile{"a: [1, ~]\n", "f.yaml:1: a: an empty list entry"},
                      BadFile{"a: [1, [2]]\n", "f.yaml:1: a: a list inside a list; lists hold plain values"},
                      BadFile{"a:\n  - b: 1\n", "f.yaml:2: a: a group inside a list; lists hold plain values"},
                      BadFile{"- a\n", "f.yaml:1: the file is a list; 'key: value' lines are expected"},
                      BadFile{"just words\n", "f.yaml:1: 'just words' is not 'key: value'"},
                      BadFile{"a: &x 1\n", "f.yaml:1: a: anchors (&x) are not allowed"},
                      BadFile{"a: !!int 3\n", "f.yaml:1: a: tags (tag:yaml.org,2002:int) are not allowed"},
                      BadFile{"<<: 1\n", "f.yaml:1: merge keys (<<) are not allowed"},
                      BadFile{"a: 1\n---\nb: 2\n",
                              "f.yaml:2: a second document ('---'); an experiment is one document"},
                      BadFile{"a: 1\nprogram: x\n", "f.yaml:2: program: must be the first key of the file"},
                      BadFile{"program: [x]\n", "f.yaml:1: program: a list; the name of one program is expected"},
                      BadFile{"a b: 1\n", "f.yaml:1: 'a b' is not a key (letters, digits, '_', '-', '.')"},
                      BadFile{"a: 1\n\tb: 2\n", "f.yaml:2: a tab in the indentation; YAML wants spaces"},
                      BadFile{"a: \"x\nb: 1\n", "f.yaml: a quoted text has no closing quote"},
                      BadFile{"a: [1,\nb: 2", "f.yaml:3:1: not valid YAML: end of sequence flow not found"},
                      BadFile{"a: b: c\n", "f.yaml:1:5: not valid YAML: illegal map value"},
                      BadFile{"a: 1\nb: caf\xE9\n", "f.yaml:2: byte 0xe9 is not UTF-8 text"},
                      BadFile{"a: \xED\xA0\x80\n", "f.yaml:1: byte 0xed is not UTF-8 text"},
                      BadFile{"\x7F\x45LF\x02\x01", "f.yaml:1: byte 0x02 is not UTF-8 text"}));

TEST(YamlFile, RefusesDeepNestingWithoutOverflowingTheStack) {
  EXPECT_EQ(error_of(std::string(100000, '[')), "f.yaml: nested too deeply");
}

TEST(YamlFile, RefusesAliases) {
  EXPECT_THAT(error_of("a: 1\nb: *a\n"), HasSubstr("not valid YAML"));  // no such anchor
}

TEST(YamlFile, NamesTheFileThatCannotBeRead) {
  EXPECT_THROW(read_yaml("absent.yaml"), ConfigError);
  const TemporaryFolder folder;
  const auto file = folder.path() / "large.yaml";
  write_file_atomically(file, std::string((1U << 20) + 1, '#'));
  try {
    read_yaml(file);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()), file.string() + ": larger than 1 MiB: not an experiment file");
  }
}

// C25, C26, C28: the types come from the options walk, and its errors name the line of the file.
struct Typed {
  std::int64_t threads = 1;
  std::int64_t limit = 5;
  void visit_fields(OptionVisitor& v) {
    v("threads", threads, "threads", {.min = 1, .max = 255});
    v("limit", limit, "limit", {.min = 0});
  }
};

std::string assign_error(const std::string& text) {
  Typed typed;
  try {
    for (const Assignment& assignment : parse_yaml(text, "f.yaml").assignments) assign(OptionSet(typed), assignment);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(YamlFile, NumbersThatOtherParsersMisreadAreErrorsWithTheirLine) {
  EXPECT_EQ(assign_error("limit: 1\nthreads: 8\n"), "no error");
  EXPECT_EQ(assign_error("threads: 8\nlimit: -15850\n"), "f.yaml:2: limit is -15850: out of range (valid: >= 0)");
  EXPECT_THAT(assign_error("limit: 0010\n"), HasSubstr("f.yaml:1: limit is '0010': leading zeros"));
  EXPECT_THAT(assign_error("limit: 0o10\n"), HasSubstr("f.yaml:1: limit is '0o10': not an integer"));
  EXPECT_THAT(assign_error("threads: 256\n"), HasSubstr("f.yaml:1: threads is 256: out of range (valid: 1 to 255)"));
  EXPECT_THAT(assign_error("threads: [1, 2]\n"), HasSubstr("f.yaml:1: threads is a list"));
  EXPECT_THAT(assign_error("threads: eight\n"), HasSubstr("f.yaml:1: threads is 'eight': not an integer"));
  EXPECT_THAT(assign_error("limits: 3\n"), HasSubstr("f.yaml:1: unknown option 'limits'; did you mean 'limit'?"));
}

TEST(YamlFile, EightIsReadAsANumberNotAsACharacter) {
  Typed typed;
  for (const Assignment& assignment : parse_yaml("threads: 8\n", "f.yaml").assignments)
    assign(OptionSet(typed), assignment);
  EXPECT_EQ(typed.threads, 8);
}

}  // namespace
}  // namespace eflops::config
