#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "models/pretrained_weights.h"
#include "programs/pretrain_data.h"
#include "programs/pretrain_options.h"

namespace eflops::programs {

using OptionSources = std::map<std::string, std::string>;

/// Opens the directory of `init_from`. Model options that were not given become those of its config.json, and
/// `init_checksum` that of its weights; `sources` says so. ConfigError names both values and places of an option that
/// was given and differs. Null when `init_from` is empty, or when the directory is gone and `resumed`, the folder of a
/// run that began from it and has a checkpoint, needs it no more: its config.yaml then says what the model is.
std::unique_ptr<models::PretrainedWeights> open_init(PretrainOptions& options, OptionSources& sources,
                                                     const std::filesystem::path& resumed);

/// Holds the directory's vocabulary against the text's. ConfigError when the model has padding rows; DataError when the
/// text was made with other pieces, when there are fewer rows than pieces, or more than padding explains; a warning
/// when the directory has no vocabulary or other rules for the same pieces.
void check_init_vocabulary(const models::PretrainedWeights& init, const PretrainText& text, std::int64_t vocabulary);

/// True when a run in this folder ("" for none) goes on from its own checkpoint.
bool has_checkpoint(const std::filesystem::path& run);

}  // namespace eflops::programs
