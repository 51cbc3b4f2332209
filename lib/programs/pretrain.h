#pragma once

#include "programs/pretrain_options.h"
#include "programs/program.h"

namespace eflops::programs {

/// `eflops-pretrain`: trains StructBERT (or BERT) on shards, into a run folder with config.yaml, metrics.jsonl,
/// records.jsonl and Hugging Face checkpoint directories. `options`, which `call` refers to, are filled in where the
/// text or `init_from` decides them, so that config.yaml and its hash hold what was used. InterruptedError (75) after a
/// signal and a clean checkpoint.
void run_pretrain(PretrainOptions& options, const Invocation& call);

/// What run_pretrain would do: parameters, memory, FLOPs, instances, and what `init_from` gives; opens the text, trains
/// nothing.
void estimate_pretrain(PretrainOptions& options, const Invocation& call);

}  // namespace eflops::programs
