#include "experiment/sweep.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace eflops::experiment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Experiment expanded(const std::string& text) {
  return expand(config::parse_yaml("program: eflops-bench allreduce\n" + text, "some.yaml"));
}

std::vector<std::string> names(const Experiment& experiment) {
  std::vector<std::string> found;
  for (const Point& point : experiment.points) found.push_back(point.name);
  return found;
}

std::string refusal(const std::string& text) {
  try {
    expanded(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Sweep, WithoutOneThereIsOnePointWithTheFilesOwnOptions) {
  const Experiment experiment = expanded("begin: 8\nalgorithm: [ring, mpi]\n");
  EXPECT_EQ(experiment.program, "eflops-bench allreduce");
  EXPECT_EQ(experiment.options.name, "some");
  EXPECT_THAT(names(experiment), ElementsAre("all"));
  EXPECT_EQ(config_text(experiment.program, experiment.points[0].assignments),
            "program: eflops-bench allreduce\nbegin: \"8\"\nalgorithm: [ring, mpi]\n");
}

TEST(Sweep, ProductsTurnTheLastOptionFastest) {
  const Experiment experiment =
      expanded("ranks: 9\nexperiment:\n  sweep:\n    product:\n      transport: [shm, tcp]\n      ranks: [2, 3]\n");
  EXPECT_THAT(names(experiment), ElementsAre("transport=shm ranks=2", "transport=shm ranks=3", "transport=tcp ranks=2",
                                             "transport=tcp ranks=3"));
  // A swept value stands in place of the file's own.
  EXPECT_EQ(config_text("p", experiment.points[1].assignments), "program: p\ntransport: shm\nranks: \"3\"\n");
}

TEST(Sweep, ZipsGoSideBySideAndListsNameTheirPoints) {
  const Experiment experiment = expanded(
      "experiment.sweep.zip.ranks: [2, 4]\n"
      "experiment.sweep.zip.servers: [1, 2]\n"
      "experiment.sweep.list.small: {begin: 8, end: 64}\n"
      "experiment.sweep.list.large: {begin: 1M, end: 1M}\n"
      "experiment.sweep.product.element: [f32]\n");
  EXPECT_THAT(
      names(experiment),
      ElementsAre("begin=8 end=64 ranks=2 servers=1 element=f32", "begin=8 end=64 ranks=4 servers=2 element=f32",
                  "begin=1M end=1M ranks=2 servers=1 element=f32", "begin=1M end=1M ranks=4 servers=2 element=f32"));
}

TEST(Sweep, ExceptionsLeaveOutWhereAllTheirOptionsAgree) {
  const std::string text =
      "cache: cold\n"
      "experiment.sweep.product.transport: [shm, tcp]\n"
      "experiment.sweep.product.ranks: [2, 3]\n";
  EXPECT_THAT(names(expanded(text + "experiment.sweep.except.slow: {transport: tcp, ranks: 3}\n")),
              ElementsAre("transport=shm ranks=2", "transport=shm ranks=3", "transport=tcp ranks=2"));
  EXPECT_THAT(names(expanded(text + "experiment.sweep.except.a.ranks: 3\nexperiment.sweep.except.b.ranks: 7\n")),
              ElementsAre("transport=shm ranks=2", "transport=tcp ranks=2"));
  EXPECT_THAT(refusal(text + "experiment.sweep.except.all.cache: cold\n"), HasSubstr("some.yaml: "));
  EXPECT_THAT(refusal(text + "experiment.sweep.except.a.rnks: 3\n"),
              HasSubstr("some.yaml:5: experiment.sweep.except: no point says anything of rnks"));
}

TEST(Sweep, OptionsOfTheExperimentAreItsOwn) {
  const Experiment experiment = expanded(
      "experiment:\n  name: night\n  launches: 5\n  launcher: [mpirun, -n, '{ranks}']\n  timeout: 9.5\nseed: 3\n");
  EXPECT_EQ(experiment.options.name, "night");
  EXPECT_EQ(experiment.options.launches, 5);
  EXPECT_EQ(experiment.options.timeout, 9.5);
  EXPECT_THAT(experiment.options.launcher, ElementsAre("mpirun", "-n", "{ranks}"));
  EXPECT_EQ(config_text("p", experiment.points[0].assignments), "program: p\nseed: \"3\"\n");
}

TEST(Sweep, FaultsNameTheirLine) {
  EXPECT_THAT(refusal("experiment.launchs: 5\n"), HasSubstr("some.yaml:2: unknown option 'launchs'"));
  EXPECT_THAT(refusal("experiment.launches: 0\n"), HasSubstr("some.yaml:2: launches"));
  EXPECT_THAT(
      refusal("experiment.sweep.cross.ranks: [1]\n"),
      HasSubstr("some.yaml:2: experiment.sweep.cross.ranks: is no sweep; there are product, zip, list and except"));
  EXPECT_THAT(refusal("experiment.sweep.zip.ranks: [1, 2]\nexperiment.sweep.zip.servers: [1]\n"),
              HasSubstr("some.yaml:3: experiment.sweep.zip: servers has 1 values, but ranks has 2"));
  EXPECT_THAT(refusal("experiment.sweep.product.ranks: [1]\nexperiment.sweep.zip.ranks: [1]\n"),
              HasSubstr("ranks is swept at some.yaml:"));
  EXPECT_THAT(refusal("experiment.sweep.list.ranks: 2\n"), HasSubstr("needs a name, an option and one value"));
  std::string many = "experiment:\n  sweep:\n    product:\n";
  for (const char option : {'a', 'b', 'c', 'd', 'e', 'f'}) {
    many += fmt::format("      {}: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n", option);
  }
  EXPECT_THAT(refusal(many), HasSubstr("more than 100000 points"));
  try {
    expand(config::parse_yaml("begin: 8\n", "none.yaml"));
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none.yaml: program: is missing"));
  }
}

}  // namespace
}  // namespace eflops::experiment
