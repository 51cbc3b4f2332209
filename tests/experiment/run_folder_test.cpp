#include "experiment/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

namespace eflops::experiment {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Sample {
  std::int64_t steps = 10;
  double rate = 0.5;
  std::vector<std::string> input{"a", "b"};
  std::string log = "x";
  void visit_fields(OptionVisitor& v) {
    v("steps", steps, "steps");
    v("rate", rate, "rate");
    v("input", input, "input");
    v("log", log, "log", {.changes_result = false});
  }
};

class RunFolderTest : public ::testing::Test {
 protected:
  RunOptions options(const std::string& output = "") const {
    RunOptions made;
    made.runs = (folder_.path() / "runs").string();
    made.output = output.empty() ? "" : (folder_.path() / output).string();
    return made;
  }
  // A finished run: a folder with a configuration and a file of its own.
  fs::path finished_run(const RunOptions& from) {
    const RunFolder run(from, "eflops-pretrain");
    Sample sample;
    run.write_config("eflops-pretrain", OptionSet(sample), {});
    write_file_atomically(run.path() / "metrics.jsonl", "{}\n");
    return run.path();
  }
  static std::string error_of(const RunOptions& from) {
    try {
      const RunFolder run(from, "eflops-pretrain");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

TEST_F(RunFolderTest, ANewRunHasNameAndTime) {
  const RunFolder run(options(), "eflops-pretrain");
  EXPECT_TRUE(fs::is_directory(run.path()));
  EXPECT_FALSE(run.resumed());
  EXPECT_EQ(run.path().parent_path(), folder_.path() / "runs");
  EXPECT_THAT(run.path().filename().string(), ::testing::MatchesRegex("eflops-pretrain-[0-9]+-[0-9]+"));
}

TEST_F(RunFolderTest, TwoRunsInOneSecondHaveTwoFolders) {
  const RunFolder first(options(), "x");
  const RunFolder second(options(), "x");
  const RunFolder third(options(), "x");
  EXPECT_NE(first.path(), second.path());
  EXPECT_NE(second.path(), third.path());
}

TEST_F(RunFolderTest, NeverSilentlyUsesAFolderThatHoldsSomething) {
  fs::create_directories(folder_.path() / "out");
  write_file_atomically(folder_.path() / "out" / "thesis.txt", "mine");
  EXPECT_THAT(error_of(options("out")), HasSubstr("is not empty: --resume auto continues"));
  RunOptions overwriting = options("out");
  overwriting.overwrite = true;
  EXPECT_THAT(error_of(overwriting), HasSubstr("holds no run"));
  EXPECT_EQ(read_file(folder_.path() / "out" / "thesis.txt"), "mine");
}

TEST_F(RunFolderTest, AnEmptyFolderIsUsed) {
  fs::create_directories(folder_.path() / "out");
  const RunFolder run(options("out"), "x");
  EXPECT_EQ(run.path(), folder_.path() / "out");
}

TEST_F(RunFolderTest, OverwriteBeginsAgain) {
  RunOptions again = options("out");
  const fs::path path = finished_run(again);
  EXPECT_THAT(error_of(again), HasSubstr("is not empty"));
  again.overwrite = true;
  const RunFolder run(again, "x");
  EXPECT_FALSE(run.resumed());
  EXPECT_FALSE(fs::exists(path / "metrics.jsonl"));
  EXPECT_FALSE(fs::exists(path / "config.yaml"));
}

TEST_F(RunFolderTest, ResumeAutoTakesTheNewestOfThatName) {
  const fs::path runs = folder_.path() / "runs";
  for (const char* name : {"mini-20260101-000000", "mini-20260201-000000", "mini-long-20270101-000000"}) {
    fs::create_directories(runs / name);
    write_file_atomically(runs / name / "config.yaml", "program: eflops-pretrain\nsteps: 10\n");
  }
  fs::create_directories(runs / "mini-20260301-000000");  // died before it wrote anything
  RunOptions resuming = options();
  resuming.name = "mini";
  resuming.resume = "auto";
  EXPECT_EQ(run_to_resume(resuming, "eflops-pretrain").filename(), "mini-20260201-000000");
  const RunFolder run(resuming, "eflops-pretrain");
  EXPECT_EQ(run.path().filename(), "mini-20260201-000000");
  EXPECT_TRUE(run.resumed());
}

TEST_F(RunFolderTest, ResumeAutoBeginsANewRunWhenThereIsNone) {
  RunOptions resuming = options();
  resuming.resume = "auto";
  EXPECT_TRUE(run_to_resume(resuming, "x").empty());
  const RunFolder run(resuming, "x");
  EXPECT_FALSE(run.resumed());
  EXPECT_TRUE(fs::is_directory(run.path()));
}

TEST_F(RunFolderTest, ResumeOfAPathNeedsARunThere) {
  RunOptions resuming = options();
  resuming.resume = (folder_.path() / "absent").string();
  EXPECT_THAT(error_of(resuming), HasSubstr("is not a run folder"));
  resuming.resume = finished_run(options()).string();
  const RunFolder run(resuming, "x");
  EXPECT_TRUE(run.resumed());
  EXPECT_TRUE(fs::exists(run.path() / "metrics.jsonl"));
}

TEST_F(RunFolderTest, ContradictionsAreErrors) {
  RunOptions both = options("out");
  both.resume = "auto";
  both.overwrite = true;
  EXPECT_THAT(error_of(both), HasSubstr("contradict each other"));
  RunOptions nothing = options();
  nothing.overwrite = true;
  EXPECT_THAT(error_of(nothing), HasSubstr("needs run.output"));
  RunOptions bad_name = options();
  bad_name.name = "a/b";
  EXPECT_THAT(error_of(bad_name), HasSubstr("run.name is 'a/b'"));
}

TEST_F(RunFolderTest, AFolderInUseIsRefusedWithItsHolder) {
  const RunFolder run(options("out"), "x");
  EXPECT_THAT(error_of(options("out")), HasSubstr("is in use by process " + std::to_string(::getpid()) + " on "));
}

TEST_F(RunFolderTest, ADeadHolderFreesTheFolder) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto* run = new RunFolder(options("out"), "x");  // never destroyed: the process dies with the lock
    ::_exit(run->path().empty() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(error_of(options("out")), "no error");
}

TEST_F(RunFolderTest, TheConfigurationRepeatsTheRun) {
  const RunFolder run(options("out"), "x");
  Sample sample;
  run.write_config("eflops-pretrain", OptionSet(sample), [](const std::string&) { return std::string("default"); });
  EXPECT_EQ(read_file(run.path() / "config.yaml"),
            "program: eflops-pretrain\n"
            "steps: 10  # default\n"
            "rate: 0.5  # default\n"
            "input: [a, b]  # default\n"
            "log: x  # default\n");
}

TEST_F(RunFolderTest, DifferencesNameFieldsThatChangeTheResult) {
  const RunFolder run(options("out"), "x");
  Sample sample;
  run.write_config("eflops-pretrain", OptionSet(sample), {});
  EXPECT_THAT(run.differences("eflops-pretrain", OptionSet(sample)), IsEmpty());
  sample.log = "elsewhere";
  EXPECT_THAT(run.differences("eflops-pretrain", OptionSet(sample)), IsEmpty());
  sample.rate = 0.25;
  sample.input = {"a"};
  EXPECT_THAT(run.differences("eflops-pretrain", OptionSet(sample)),
              ElementsAre("rate: was 0.5, now 0.25", "input: was [a, b], now [a]"));
  EXPECT_THROW(run.differences("eflops-finetune train", OptionSet(sample)), ConfigError);
}

}  // namespace
}  // namespace eflops::experiment
