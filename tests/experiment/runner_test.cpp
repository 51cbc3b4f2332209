#include "experiment/runner.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "experiment/child.h"

namespace eflops::experiment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Experiment three_points() {
  return expand(config::parse_yaml(
      "program: eflops-bench allreduce\nexperiment.sweep.product.ranks: [2, 3, 4]\nexperiment.launches: 4\n",
      "x.yaml"));
}

TEST(Runner, EveryPointOnceThenEveryPointAgain) {
  const std::vector<Job> jobs = jobs_of(three_points(), "runs/x");
  ASSERT_EQ(jobs.size(), 12U);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(jobs[i].point, i % 3);
    EXPECT_EQ(jobs[i].launch, static_cast<std::int64_t>(i / 3 + 1));
  }
  EXPECT_EQ(jobs[4].folder, "runs/x/points/00002-launch-2");
}

TEST(Runner, ShuffledLaunchesHaveEveryPointOnceAndTheSameOrderNextTime) {
  Experiment experiment = three_points();
  experiment.options.shuffle = true;
  std::vector<std::size_t> order;
  for (const Job& job : jobs_of(experiment, "runs/x")) order.push_back(job.point);
  for (std::size_t launch = 0; launch < 4; ++launch) {
    std::vector<std::size_t> points(order.begin() + static_cast<std::ptrdiff_t>(3 * launch),
                                    order.begin() + static_cast<std::ptrdiff_t>(3 * launch + 3));
    EXPECT_THAT(points, ::testing::UnorderedElementsAre(0, 1, 2));
  }
  std::vector<std::size_t> again;
  for (const Job& job : jobs_of(experiment, "runs/x")) again.push_back(job.point);
  EXPECT_EQ(order, again);
  EXPECT_NE(order, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(Runner, TheLaunchersWordsHaveThePointsValues) {
  Experiment experiment = three_points();
  experiment.options.launcher = {"mpirun", "-n", "{ranks}", "--tag={ranks}x"};
  const std::vector<Job> jobs = jobs_of(experiment, "/runs/x");
  EXPECT_THAT(command_of(experiment, jobs[1], "/nowhere"),
              ElementsAre("mpirun", "-n", "3", "--tag=3x", "eflops-bench", "allreduce", "--config",
                          "/runs/x/points/00002-launch-1/config.yaml"));
  experiment.options.launcher = {"{hosts}"};
  EXPECT_THROW(command_of(experiment, jobs[1], "/nowhere"), ConfigError);
}

TEST(Runner, AJobWritesItsRecordsIntoItsFolder) {
  Experiment experiment = three_points();
  const Job job = jobs_of(experiment, "/runs/x").front();
  EXPECT_THAT(job_config(experiment, job), HasSubstr("record: /runs/x/points/00001-launch-1/records.jsonl\n"));
  experiment.program = "eflops-pretrain";
  EXPECT_THAT(job_config(experiment, job), HasSubstr("run.output: /runs/x/points/00001-launch-1/run\n"));
  EXPECT_THAT(job_config(experiment, job), HasSubstr("run.resume: auto\n"));
}

TEST(Child, TellsHowTheCommandEnded) {
  const TemporaryFolder folder;
  const auto output = folder.path() / "output.txt";
  EXPECT_EQ(run_child({"sh", "-c", "echo out; echo err >&2; exit 3"}, output, 60).status, 3);
  EXPECT_EQ(read_file(output), "out\nerr\n");
  EXPECT_EQ(run_child({"sh", "-c", "kill -9 $$"}, output, 60).status, 128 + 9);
  EXPECT_EQ(run_child({"cat"}, output, 60).status, 0);  // nothing to read
  EXPECT_THROW(run_child({"no-such-program-here"}, output, 60), DataError);
}

TEST(Child, EndsWithItsGroupWhenItsTimeIsUp) {
  const TemporaryFolder folder;
  const auto output = folder.path() / "output.txt";
  const ChildResult result = run_child({"sh", "-c", "sleep 1000 & echo $!; wait"}, output, 0.3);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.status, 128 + 15);
  // The sleeper is gone too, or at least dead (nobody may have waited for it yet).
  const std::string status = "/proc/" + read_file(output).substr(0, read_file(output).find('\n')) + "/status";
  bool is_gone = false;
  for (int i = 0; i < 500 && !is_gone; ++i) {
    std::ifstream stream(status);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    is_gone = text.empty() || text.find("State:\tZ") != std::string::npos;
    if (!is_gone) ::usleep(10000);
  }
  EXPECT_TRUE(is_gone);
}

}  // namespace
}  // namespace eflops::experiment
