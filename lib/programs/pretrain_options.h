#pragma once

#include <cstdint>
#include <string>

#include "base/options.h"
#include "checkpoint/directory.h"
#include "data/objective_options.h"
#include "experiment/run_folder.h"
#include "models/structbert.h"
#include "programs/pretrain_data.h"
#include "train/loop_options.h"
#include "train/optimizer.h"
#include "train/schedule.h"

namespace eflops::programs {

struct BatchOptions {
  std::int64_t size = 32;
  std::int64_t shards = 1;

  void visit_fields(OptionVisitor& v);
};

struct EvaluationOptions {
  std::int64_t instances = 1000;
  std::int64_t batch = 32;
  std::int64_t examples = 0;

  void visit_fields(OptionVisitor& v);
};

/// Everything `eflops-pretrain` is told; an experiment file holds the same keys.
struct PretrainOptions {
  experiment::RunOptions run;
  std::int64_t seed = 1;
  std::int64_t threads = 0;
  std::string init_from;
  std::string init_checksum;
  PretrainDataOptions data;
  data::ObjectiveOptions objective;
  models::StructBertSize model_size = models::StructBertSize::Mini;
  models::StructBertOptions model;
  BatchOptions batch;
  train::OptimizerOptions optimizer;
  train::ScheduleOptions schedule;
  train::LoopOptions train;
  EvaluationOptions evaluation;
  checkpoint::KeepOptions checkpoint;
  bool measure_peak = true;

  void visit_fields(OptionVisitor& v);
};

/// Checks what no single field can: shards against batch, sequence length against positions, processes of a launcher.
/// ConfigError names the keys.
void check(const PretrainOptions& options);

}  // namespace eflops::programs
