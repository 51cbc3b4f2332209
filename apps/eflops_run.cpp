#include "apps/command_line.h"
#include "programs/run_experiment.h"

int main(int argc, char** argv) {
  using namespace eflops;
  programs::NoOptions none;
  programs::RunExperimentOptions options;
  const auto verb = [&options](const char* name, const char* help, programs::Action run) {
    return programs::Verb{.name = name,
                          .help = help,
                          .options = OptionSet(options),
                          .run = std::move(run),
                          .positional = "experiment",
                          .examples = {std::string("eflops-run ") + name + " transports.yaml"}};
  };
  return apps::run_program(
      {.name = "eflops-run",
       .help = "runs an experiment with many points, and goes on where it was stopped",
       .verbs = {{.help = "the experiments that lie here",
                  .options = OptionSet(none),
                  .run = [](const programs::Invocation&) { programs::experiments_here(); },
                  .examples = {"eflops-run"}},
                 verb("run", "runs every point that is not complete",
                      [&options](const programs::Invocation& call) { programs::run_experiment(options, call); }),
                 verb("list", "shows the points, and which are complete",
                      [&options](const programs::Invocation&) { programs::list_experiment(options); }),
                 verb("estimate", "asks the program what each point needs",
                      [&options](const programs::Invocation&) { programs::estimate_experiment(options); }),
                 verb("check", "asks the program whether each point is valid",
                      [&options](const programs::Invocation&) { programs::check_experiment(options); })}},
      argc, argv);
}
