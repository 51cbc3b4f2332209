#include "programs/pretrain_options.h"

#include <bit>
#include <cstdlib>

#include "base/error.h"

namespace eflops::programs {
namespace {

// C17: N processes that do not know of each other would each train alone and look like one run.
void refuse_several_processes() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_NTASKS"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && std::atoi(value) > 1)
      throw ConfigError("{} is {}: this version trains in one process; start it without a launcher", variable, value);
  }
}

}  // namespace

void BatchOptions::visit_fields(OptionVisitor& v) {
  v("size", size, "global: sequences per optimiser step, over all micro-shards",
    {.unit = "sequences, global", .min = 1, .aliases = {"train_batch_size", "per_device_train_batch_size"}});
  v("shards", shards,
    "micro-shards that a global batch is cut into, a power of two: gradient accumulation, and what makes the weights "
    "independent of the number of ranks",
    {.min = 1, .aliases = {"gradient_accumulation_steps"}});
}

void EvaluationOptions::visit_fields(OptionVisitor& v) {
  v("instances", instances, "held-out instances to be judged on; 0: all",
    {.unit = "sequences", .min = 0, .aliases = {"max_eval_samples"}, .changes_result = false});
  v("batch", batch, "sequences of a held-out batch",
    {.unit = "sequences", .min = 1, .aliases = {"per_device_eval_batch_size"}, .changes_result = false});
  v("examples", examples, "filled-in blanks and re-ordered words to show at the end",
    {.min = 0, .changes_result = false});
}

void PretrainOptions::visit_fields(OptionVisitor& v) {
  v("seed", seed, "of weights, data order, masks and dropout", {.min = 0});
  v("threads", threads, "OpenMP threads; 0: as the environment says", {.min = 0, .max = 4096});
  v("init_from", init_from,
    "a Hugging Face BERT directory to start from, which decides the model options that are not given; empty: from "
    "nothing",
    {.aliases = {"init_checkpoint", "model_name_or_path"}, .changes_result = false});
  v("init_checksum", init_checksum,
    "checksum that the weights of init_from must have; filled in by a run, so that its config.yaml holds it");
  v.group("data", data, "text");
  v.group("objective", objective, "what is predicted (StructBERT sections 2.1 and 2.2)");
  v("model_size", model_size, "a named encoder; custom: as model.layers, hidden, heads and intermediate say",
    {.aliases = {"size"}});
  v.group("model", model, "the encoder");
  v.group("batch", batch, "batches");
  v.group("optimizer", optimizer, "the optimiser");
  v.group("schedule", schedule, "the learning rate");
  v.group("train", train, "length and cadence");
  v.group("evaluation", evaluation, "held-out evaluation");
  v.group("checkpoint", checkpoint, "checkpoints to keep");
  v("measure_peak", measure_peak, "measure the GEMM peak at start, so that MFU can be shown",
    {.changes_result = false});
  v.group("run", run, "the run's folder");
}

void check(const PretrainOptions& options) {
  refuse_several_processes();
  if (!std::has_single_bit(static_cast<std::uint64_t>(options.batch.shards)))
    throw ConfigError("batch.shards is {}: not a power of two", options.batch.shards);
  if (options.batch.shards > options.batch.size)
    throw ConfigError("batch.shards is {} and batch.size {}: a micro-shard would be empty", options.batch.shards,
                      options.batch.size);
  if (options.objective.max_seq_length > options.model.positions)
    throw ConfigError(
        "objective.max_seq_length is {} and model.positions {}: there is no position embedding beyond that",
        options.objective.max_seq_length, options.model.positions);
}

}  // namespace eflops::programs
