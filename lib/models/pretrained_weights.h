#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/hf_config.h"
#include "checkpoint/name_match.h"
#include "checkpoint/safetensors.h"
#include "nn/parameter_store.h"

namespace eflops::models {

/// A Hugging Face BERT directory (config.json, and model.safetensors whole or in shards) as the source of a model's
/// weights. In a checkpoint of ours the sentence head under trainer/ counts too. Files stay mapped while this lives.
class PretrainedWeights {
 public:
  /// DataError for files that are missing or damaged.
  explicit PretrainedWeights(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const checkpoint::BertConfig& config() const { return config_; }
  std::string config_file() const { return (folder_ / "config.json").string(); }

  /// 16 hex digits over names, types, shapes and bytes of all tensors: the same wherever the directory lies and
  /// however its weights are cut into files.
  std::string checksum() const;

  /// Treats the stored tensors whose name begins so as ignored: heads that mean something else here.
  void leave_out(std::string prefix) { left_out_ = std::move(prefix); }

  /// Copies into the parameters what the directory has for them, as f32; the others keep their values. The encoder
  /// ("bert." but the pooler) must be there in full; heads may be missing or of another shape. Rows that pad a stored
  /// vocabulary are not copied. DataError names file and tensor: an encoder tensor that is missing or of another shape,
  /// a type that is no float, a value that is not finite.
  checkpoint::NameMatch load(nn::ParameterStore& store) const;
  /// What load() would use, ignore, leave and refuse, for the parameters of a model that need not exist.
  checkpoint::NameMatch check(std::span<const nn::Parameter> parameters) const;

 private:
  using Target = std::function<std::span<float>(const nn::Parameter&)>;
  void add(const std::filesystem::path& file_or_folder);
  checkpoint::NameMatch read(std::span<const nn::Parameter> parameters, const Target& target) const;
  void read_tensor(const checkpoint::TensorView& stored, std::span<float> out) const;
  std::string file_of(const checkpoint::TensorView& tensor) const;
  void warn_of_untied_decoder() const;

  std::filesystem::path folder_;
  checkpoint::BertConfig config_;
  std::vector<checkpoint::WeightFiles> files_;
  std::vector<checkpoint::TensorView> tensors_;
  std::string left_out_;
};

}  // namespace eflops::models
