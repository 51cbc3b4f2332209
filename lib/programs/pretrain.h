#pragma once

#include "programs/pretrain_options.h"
#include "programs/program.h"

namespace eflops::programs {

/// `eflops-pretrain`: trains StructBERT (or BERT) on shards, into a run folder with config.yaml, metrics.jsonl,
/// records.jsonl and Hugging Face checkpoint directories. InterruptedError (75) after a signal and a clean checkpoint.
void run_pretrain(PretrainOptions options, const Invocation& call);

/// What run_pretrain would do: parameters, memory, FLOPs and instances; opens the text, trains nothing.
void estimate_pretrain(PretrainOptions options, const Invocation& call);

}  // namespace eflops::programs
