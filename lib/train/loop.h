#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/directory.h"
#include "train/gradient_tree.h"
#include "train/loop_options.h"
#include "train/metrics_file.h"
#include "train/optimizer.h"
#include "train/schedule.h"
#include "train/stage_clock.h"
#include "train/trainable.h"
#include "train/training_checkpoint.h"

namespace eflops::train {

/// How a run trains, whatever it trains.
struct TrainingOptions {
  LoopOptions loop;
  ScheduleOptions schedule;
  OptimizerOptions optimizer;
  checkpoint::KeepOptions keep;
  std::int64_t shards = 1;  ///< micro-shards S of a global batch (DESIGN D8)
};

/// What surrounds a run: its folder, who it is, and what its checkpoints hold besides weights and state.
struct TrainingContext {
  std::filesystem::path folder;  ///< metrics.jsonl, tensorboard/ and checkpoint-STEP go here
  RunIdentity identity;
  OursAlone ours_alone;                                                 ///< parameters that Hugging Face cannot hold
  std::function<void(const std::filesystem::path&)> write_model_files;  ///< config.json, vocabulary
  double peak_flops = 0;                                                ///< measured; 0: no MFU is shown
};

/// How a run went; `status` is the end of its record.
struct TrainingResult {
  std::int64_t step = 0;
  bool interrupted = false;  ///< by a signal, after a checkpoint
  std::string signal;
  StepReport last;                             ///< of the last step this process made
  std::optional<EvaluationReport> evaluation;  ///< of the last one
  std::filesystem::path checkpoint;            ///< the newest one
  std::int64_t skipped_steps = 0;              ///< updates left out for NaN (on_nan: skip)
  std::int64_t tokens = 0;                     ///< all processes of this run together
  std::int64_t tokens_here = 0;                ///< this process
  double seconds = 0;                          ///< training time, all processes together
  StageClock clock;                            ///< this process
  std::vector<double> step_seconds;            ///< each step of this process
  double flops_here = 0;
};

/// Trains from the newest valid checkpoint in the folder, or from the start: steps, metrics.jsonl, progress, evaluation
/// and checkpoints at their cadence, a clean stop on SIGTERM, SIGINT and SIGUSR1. A NaN or infinite loss or gradient is
/// CheckFailed naming step and tensor, or a skipped update (on_nan); neither reaches a checkpoint. ConfigError when the
/// checkpoint is of another configuration.
TrainingResult train(Trainable& task, const TrainingOptions& options, const TrainingContext& context);

}  // namespace eflops::train
