#include "train/loop_options.h"

namespace eflops::train {

void LoopOptions::visit_fields(OptionVisitor& v) {
  v("steps", steps, "optimiser steps of the whole run",
    {.unit = "steps", .min = 0, .aliases = {"max_steps", "num_train_steps"}});
  v("log_every", log_every, "steps between lines of metrics.jsonl",
    {.unit = "steps", .min = 1, .aliases = {"logging_steps"}, .changes_result = false});
  v("evaluate_every", evaluate_every, "steps between held-out evaluations; 0: only at the end",
    {.unit = "steps", .min = 0, .aliases = {"eval_steps"}, .changes_result = false});
  v("save_every", save_every, "steps between checkpoints; 0: only at the end",
    {.unit = "steps", .min = 0, .aliases = {"save_steps", "save_checkpoints_steps"}, .changes_result = false});
  v("on_nan", on_nan, "a NaN or infinite loss or gradient: stop with its step and tensor, or skip that update");
  v("tensorboard", tensorboard, "write what metrics.jsonl gets to event files in `tensorboard/` of the run folder too",
    {.changes_result = false});
}

}  // namespace eflops::train
