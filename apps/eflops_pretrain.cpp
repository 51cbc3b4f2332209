#include "apps/command_line.h"
#include "programs/pretrain.h"

int main(int argc, char** argv) {
  using namespace eflops;
  programs::PretrainOptions options;
  return apps::run_program(
      {.name = "eflops-pretrain",
       .help = "pre-train StructBERT or BERT on shards of text",
       .verbs = {{.help = "train, evaluate on held-out text, write Hugging Face checkpoints",
                  .options = OptionSet(options),
                  .run = [&](const programs::Invocation& call) { programs::run_pretrain(options, call); },
                  .estimate = [&](const programs::Invocation& call) { programs::estimate_pretrain(options, call); },
                  .examples = {"eflops-pretrain --data shards/train --held-out shards/held-out --steps 1000",
                               "eflops-pretrain --config configs/pretrain/mini-bert --seed 2 --run.name mini-bert-2",
                               "eflops-pretrain --data synthetic --model-size base --batch.size 8 --steps 20"}}}},
      argc, argv);
}
