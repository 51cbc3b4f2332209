#include "apps/command_line.h"
#include "programs/data_check.h"
#include "programs/data_dump.h"
#include "programs/data_here.h"
#include "programs/data_shard.h"
#include "programs/data_stat.h"
#include "programs/data_tokenize.h"
#include "programs/data_train_vocab.h"

namespace {

using namespace eflops;

template <typename Options>
programs::Action action(void (*run)(const Options&), const Options& options) {
  return [run, &options](const programs::Invocation&) { run(options); };
}

}  // namespace

int main(int argc, char** argv) {
  programs::NoOptions none;
  programs::TrainVocabOptions train_vocab;
  programs::ShardOptions shard;
  programs::TokenizeOptions tokenize;
  programs::StatOptions stat;
  programs::CheckOptions check;
  programs::DumpOptions dump;
  return apps::run_program(
      {.name = "eflops-data",
       .help = "text to shards and vocabularies, and a look into both",
       .verbs = {{.help = "shards and vocabularies that lie here",
                  .options = OptionSet(none),
                  .run = programs::run_data_here},
                 {.name = "train-vocab",
                  .help = "text to a WordPiece or SentencePiece vocabulary",
                  .options = OptionSet(train_vocab),
                  .run = action(programs::run_train_vocab, train_vocab),
                  .positional = "input",
                  .examples = {"eflops-data train-vocab text/*.txt --output vocab --vocabulary-size 8000"}},
                 {.name = "shard",
                  .help = "text to tokenised, memory-mapped shards",
                  .options = OptionSet(shard),
                  .run = action(programs::run_shard, shard),
                  .positional = "input",
                  .examples = {"eflops-data shard text/*.txt.gz --vocabulary vocab --output shards",
                               "zcat text.gz | eflops-data shard --input - --vocabulary vocab --output shards"}},
                 {.name = "tokenize",
                  .help = "how a vocabulary cuts text, line by line",
                  .options = OptionSet(tokenize),
                  .run = action(programs::run_tokenize, tokenize),
                  .positional = "input",
                  .examples = {"eflops-data tokenize --vocabulary vocab --text 'a stitch in time'",
                               "eflops-data tokenize text --vocabulary vocab --format summary"}},
                 {.name = "stat",
                  .help = "what is in shards: sizes, lengths, frequent pieces",
                  .options = OptionSet(stat),
                  .run = action(programs::run_stat, stat),
                  .positional = "input",
                  .examples = {"eflops-data stat shards"}},
                 {.name = "check",
                  .help = "are shards whole? reads and verifies every byte",
                  .options = OptionSet(check),
                  .run = action(programs::run_check, check),
                  .positional = "input",
                  .examples = {"eflops-data check shards"}},
                 {.name = "dump",
                  .help = "pre-training instances as a person reads them",
                  .options = OptionSet(dump),
                  .run = action(programs::run_dump, dump),
                  .positional = "input",
                  .examples = {"eflops-data dump shards --objective.arm structbert --count 2"}}}},
      argc, argv);
}
