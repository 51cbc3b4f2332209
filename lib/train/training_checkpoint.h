#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "nn/parameter_store.h"
#include "train/moments.h"

namespace eflops::train {

/// The circumstances that bit-identical resume depends on; a difference is said when a run goes on (DESIGN D8).
struct RunIdentity {
  std::string config_hash;
  std::string tokenizer_hash;
  std::string cpu;
  std::string onednn;
  std::string git_commit;
  std::int64_t threads = 0;

  /// "cpu: was A, now B" for every circumstance that differs; the hashes are not circumstances.
  std::vector<std::string> differences(const RunIdentity& now) const;
};

/// Everything a run needs beside weights and moments to go on as if it had not stopped.
struct TrainerState {
  std::int64_t step = 0;            ///< optimiser steps done
  std::int64_t optimizer_step = 0;  ///< updates made: steps less those skipped for NaN
  std::int64_t tokens = 0;          ///< real tokens seen
  std::int64_t samples = 0;
  double seconds = 0;         ///< training time so far, all processes together
  std::string data_position;  ///< JSON, as Trainable::data_position gives it
  RunIdentity identity;
};

/// True for parameters that Hugging Face's BertForPreTraining cannot hold (a sentence head of three classes): they are
/// stored under trainer/.
using OursAlone = std::function<bool(const nn::Parameter&)>;

/// Writes model.safetensors, trainer/heads.safetensors, trainer/optimizer.safetensors and trainer/state.json into a
/// folder that CheckpointStore::save offers.
void write_training_state(const std::filesystem::path& folder, const nn::ParameterStore& parameters,
                          const Moments& moments, const TrainerState& state, const OursAlone& ours_alone);

/// Reads them back into `parameters` and `moments`. DataError names the file and tensor that is missing, of another
/// shape or of no parameter. The caller has verified the folder's checksums.
TrainerState read_training_state(const std::filesystem::path& folder, nn::ParameterStore& parameters,
                                 const Moments& moments);

}  // namespace eflops::train
