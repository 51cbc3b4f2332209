#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/structbert.h"
#include "nn/parameter_store.h"
#include "programs/pretrain_data.h"
#include "programs/pretrain_init.h"
#include "programs/pretrain_options.h"
#include "programs/pretrain_task.h"
#include "records/record.h"
#include "train/loop.h"

namespace eflops::programs {

/// Options resolved against each other and against the text: what a run is made of.
struct PretrainSetup {
  PretrainOptions options;                          ///< the model's resolved: these repeat the run
  OptionSources sources;                            ///< where each value came from, resolved ones too
  std::unique_ptr<models::PretrainedWeights> init;  ///< what to start from; null: from nothing, or not needed any more
  std::vector<records::Fact> init_facts;            ///< what load_init() said
  std::unique_ptr<PretrainText> text;
  data::ObjectiveOptions objective;  ///< resolved
  models::StructBertOptions model;
  train::TrainingOptions training;
  PretrainTaskOptions task;
};

/// Opens the text and `init_from`, fills in sizes (named encoder, vocabulary, sentence classes, total steps) and checks
/// everything together; `sources` tells a value that was given from a default, `resumed` is the folder of the run that
/// is gone on with, if any. ConfigError and DataError as the parts throw them.
PretrainSetup prepare_pretrain(PretrainOptions options, OptionSources sources,
                               const std::filesystem::path& resumed = {});

/// Fills the parameters from `setup.init`, says and returns what was loaded, made anew and ignored; nothing without it.
std::vector<records::Fact> load_init(const PretrainSetup& setup, nn::ParameterStore& parameters);

/// True for the sentence head when it has not the two classes of Hugging Face's BertForPreTraining.
bool ours_alone(const nn::Parameter& parameter);

/// config.json, vocabulary and tokenizer_config.json of a checkpoint (DESIGN D10).
void write_model_files(const std::filesystem::path& folder, const PretrainSetup& setup);

/// FLOP/s of the fastest matrix product of this precision on all threads; takes about half a second. 0 where bf16 is
/// emulated: no such peak exists.
double measured_peak(models::Precision precision);

/// Parameters, memory and FLOPs of a run over `samples` sequences, for --dry-run.
std::string estimate_text(const PretrainSetup& setup, double samples);

}  // namespace eflops::programs
