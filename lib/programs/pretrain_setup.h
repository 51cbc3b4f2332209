#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "models/structbert.h"
#include "nn/parameter_store.h"
#include "programs/pretrain_data.h"
#include "programs/pretrain_options.h"
#include "programs/pretrain_task.h"
#include "train/loop.h"

namespace eflops::programs {

/// Options resolved against each other and against the text: what a run is made of.
struct PretrainSetup {
  std::unique_ptr<PretrainText> text;
  data::ObjectiveOptions objective;  ///< resolved
  models::StructBertOptions model;
  train::TrainingOptions training;
  PretrainTaskOptions task;
};

/// Opens the text, fills in sizes (named encoder, vocabulary, sentence classes, total steps) and checks everything
/// together; `sources` tells a size that was given from a default. ConfigError and DataError as the parts throw them.
PretrainSetup prepare_pretrain(const PretrainOptions& options, const std::map<std::string, std::string>& sources);

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
