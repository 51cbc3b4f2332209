#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/random.h"
#include "programs/data_shard.h"
#include "programs/pretrain_setup.h"
#include "train/loop.h"

namespace eflops::programs {

namespace fs = std::filesystem;

/// A small corpus of made-up sentences, sharded once for all tests of this file.
class PretrainTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    log::set_level(log::Level::Off);
    Progress::set_quiet(true);
    folder_ = new TemporaryFolder();
    const std::vector<std::string> words{"river", "stone", "light", "bread", "walks",
                                         "sees",  "old",   "tree",  "the",   "a"};
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n";
    for (const std::string& word : words) vocabulary += word + "\n";
    fs::create_directories(path("vocab"));
    write_file_atomically(path("vocab") / "vocab.txt", vocabulary);
    for (const char* name : {"train", "held-out"}) {
      std::string text;
      Random random(name[0] == 't' ? 1 : 2, Purpose::Test);
      for (int document = 0; document < 12; ++document, text += "\n")
        for (int sentence = 0; sentence < 6; ++sentence, text += ".\n")
          for (int word = 0; word < 7; ++word) text += words[random.below(words.size())] + " ";
      write_file_atomically(path(std::string(name) + ".txt"), text);
      ShardOptions shard;
      shard.text.input = {path(std::string(name) + ".txt").string()};
      shard.tokenizer.vocabulary = path("vocab").string();
      shard.shards.output = path(name).string();
      ::testing::internal::CaptureStdout();
      run_shard(shard);
      ::testing::internal::GetCapturedStdout();
    }
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
    log::set_level(log::Level::Info);
  }
  static fs::path path(const std::string& name) { return folder_->path() / name; }

  static PretrainOptions options(std::int64_t steps) {
    PretrainOptions all;
    all.data.train = {path("train").string()};
    all.data.held_out = {path("held-out").string()};
    all.objective.max_seq_length = 32;
    all.model_size = models::StructBertSize::Custom;
    all.model.layers = 2;
    all.model.hidden = 16;
    all.model.heads = 2;
    all.model.intermediate = 32;
    all.model.positions = 32;
    all.batch.size = 8;
    all.batch.shards = 2;
    all.schedule.total_steps = 20;
    all.schedule.learning_rate = 5e-3;
    all.train.steps = steps;
    all.train.log_every = 1;
    all.evaluation.instances = 20;
    return all;
  }

  struct Trained {
    std::vector<float> weights;
    train::TrainingResult result;
  };
  static Trained run(const PretrainOptions& options, const std::string& folder) {
    return run(options, prepare_pretrain(options, {}), folder);
  }
  static Trained run(const PretrainOptions& options, const PretrainSetup& setup, const std::string& folder) {
    models::StructBert model(setup.model, static_cast<std::uint64_t>(options.seed));
    if (!has_checkpoint(path(folder))) load_init(setup, model.parameters());
    PretrainTask task(model, *setup.text, setup.task);
    train::TrainingContext context;
    context.folder = path(folder);
    fs::create_directories(context.folder);
    context.ours_alone = ours_alone;
    context.write_model_files = [&setup](const fs::path& target) { write_model_files(target, setup); };
    Trained trained{{}, train::train(task, setup.training, context)};
    const auto values = model.parameters().values();
    trained.weights.assign(values.begin(), values.end());
    return trained;
  }

  static inline TemporaryFolder* folder_ = nullptr;
};

}  // namespace eflops::programs
