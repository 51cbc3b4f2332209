#include "base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/options_format.h"

namespace eflops {

enum class Colour { Red, DeepBlue };
template <>
struct Choices<Colour> {
  static constexpr std::pair<Colour, std::string_view> kEntries[] = {{Colour::Red, "red"},
                                                                     {Colour::DeepBlue, "deep_blue"}};
};

namespace {

using ::testing::HasSubstr;

struct Inner {
  std::int64_t layers = 12;
  Colour colour = Colour::Red;
  void visit_fields(OptionVisitor& v) {
    v("layers", layers, "encoder layers", {.min = 1, .max = 100});
    v("colour", colour, "a choice");
  }
};

struct Sample {
  bool verbose = false;
  double rate = 1e-4;
  std::string name = "run";
  std::vector<std::string> files;
  std::string output = "out";
  Inner model;
  void visit_fields(OptionVisitor& v) {
    v("verbose", verbose, "say more");
    v("rate", rate, "peak rate", {.unit = "1/step", .min = 0, .aliases = {"learning_rate"}});
    v("name", name, "of the run");
    v("files", files, "inputs");
    v("output", output, "a folder", {.changes_result = false});
    v.group("model", model, "the network");
  }
};

void set(Sample& sample, const std::string& path, const std::string& value) {
  assign(OptionSet(sample), {path, {value}, false, "test"});
}

std::string error_of(const std::string& path, const std::string& value) {
  Sample sample;
  try {
    set(sample, path, value);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, AssignSetsEveryType) {
  Sample sample;
  set(sample, "verbose", "yes");
  set(sample, "rate", "2.5e-3");
  set(sample, "name", "a: b");
  assign(OptionSet(sample), {"files", {"x", "y"}, true, "test"});
  set(sample, "model.layers", "24");
  set(sample, "model.colour", "deep-blue");
  EXPECT_TRUE(sample.verbose);
  EXPECT_EQ(sample.rate, 2.5e-3);
  EXPECT_EQ(sample.name, "a: b");
  EXPECT_EQ(sample.files, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(sample.model.layers, 24);
  EXPECT_EQ(sample.model.colour, Colour::DeepBlue);
}

TEST(Options, ErrorsNameSourcePathValueAndWhatIsValid) {
  EXPECT_EQ(error_of("model.layers", "0"), "test: model.layers is 0: out of range (valid: 1 to 100)");
  EXPECT_EQ(error_of("model.colour", "green"), "test: model.colour is 'green' (valid: red, deep_blue)");
  EXPECT_EQ(error_of("verbose", "maybe"), "test: verbose is 'maybe': not a truth value (valid: true, false)");
  EXPECT_EQ(error_of("model.layer", "3"), "test: unknown option 'model.layer'; did you mean 'model.layers'?");
  EXPECT_THAT(error_of("layers", "3"), HasSubstr("did you mean 'model.layers'?"));
  EXPECT_THAT(error_of("rate", "fast"), HasSubstr("not a number"));
  EXPECT_THAT(error_of("rate", "nan"), HasSubstr("not a number"));
}

// C25: a negative number never becomes a huge unsigned one. C26: leading zeros are refused, not read as octal.
TEST(Options, IntegersAreReadStrictly) {
  EXPECT_THAT(error_of("model.layers", "-15850"), HasSubstr("out of range"));
  EXPECT_THAT(error_of("model.layers", "0010"), HasSubstr("leading zeros"));
  EXPECT_THAT(error_of("model.layers", "0o10"), HasSubstr("not an integer"));
  EXPECT_THAT(error_of("model.layers", "0x10"), HasSubstr("not an integer"));
  EXPECT_THAT(error_of("model.layers", "12 "), HasSubstr("not an integer"));
  EXPECT_THAT(error_of("model.layers", ""), HasSubstr("not an integer"));
  EXPECT_THAT(error_of("model.layers", "1.5"), HasSubstr("not an integer"));
  EXPECT_THAT(error_of("model.layers", "99999999999999999999"), HasSubstr("too large"));
  EXPECT_EQ(parse_integer("64Ki", "x"), 65536);
  EXPECT_EQ(parse_integer("2M", "x"), 2000000);
  EXPECT_EQ(parse_integer("1e6", "x"), 1000000);
  EXPECT_EQ(parse_integer("-7", "x"), -7);
  EXPECT_EQ(parse_integer("0", "x"), 0);
  EXPECT_EQ(parse_number("-.5", "x"), -0.5);
}

TEST(Options, DescribeListsFieldsInOrderWithTheirGroup) {
  Sample sample;
  const std::vector<FieldDescription> fields = describe(OptionSet(sample));
  ASSERT_EQ(fields.size(), 7U);
  EXPECT_EQ(fields[1].path, "rate");
  EXPECT_EQ(fields[1].unit, "1/step");
  EXPECT_EQ(fields[1].aliases, std::vector<std::string>{"learning_rate"});
  EXPECT_EQ(fields[5].path, "model.layers");
  EXPECT_EQ(fields[5].group_help, "the network");
  EXPECT_EQ(fields[6].choices, (std::vector<std::string>{"red", "deep_blue"}));
}

TEST(Options, DumpIsYamlWithSources) {
  Sample sample;
  sample.files = {"a b", "true"};
  const std::string yaml =
      dump_yaml(OptionSet(sample), [](const std::string& path) { return path == "model.layers" ? "run.yaml:3" : ""; });
  EXPECT_EQ(yaml,
            "verbose: false\nrate: 0.0001\nname: run\nfiles: [\"a b\", \"true\"]\noutput: out\nmodel:\n"
            "  layers: 12  # run.yaml:3\n  colour: red\n");
}

TEST(Options, HashIgnoresWhatDoesNotChangeAResult) {
  Sample sample;
  const std::string before = config_hash(OptionSet(sample));
  sample.output = "elsewhere";
  EXPECT_EQ(config_hash(OptionSet(sample)), before);
  sample.rate = 2e-4;
  EXPECT_NE(config_hash(OptionSet(sample)), before);
}

TEST(Options, ScalarsThatYamlWouldMisreadAreQuoted) {
  EXPECT_EQ(yaml_scalar("run-1/a.b"), "run-1/a.b");
  EXPECT_EQ(yaml_scalar("1e3"), "\"1e3\"");
  EXPECT_EQ(yaml_scalar(""), "\"\"");
  EXPECT_EQ(yaml_scalar("no"), "\"no\"");
  EXPECT_EQ(yaml_scalar("a\"b\\\n"), "\"a\\\"b\\\\\\n\"");
}

}  // namespace
}  // namespace eflops
