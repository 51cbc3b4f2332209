#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files.h"
#include "checkpoint/tensor_view.h"

namespace eflops::checkpoint {

/// Writes a safetensors file under its name only when it is complete and synced. Tensors are stored by falling element
/// size, then by name, so equal content gives equal bytes whatever the order of
/// `tensors`. DataError where the file system fails; a malformed tensor is an InternalError.
void write_safetensors(const std::filesystem::path& file, std::span<const TensorView> tensors,
                       const Metadata& metadata = {});

/// A safetensors file mapped into memory and checked (see parse_safetensors); the views live as long as this object.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return map_.path(); }
  const Metadata& metadata() const { return metadata_; }
  /// In the order of their bytes.
  std::span<const TensorView> tensors() const { return tensors_; }

 private:
  MappedFile map_;
  std::vector<TensorView> tensors_;
  Metadata metadata_;
};

/// The weights of a Hugging Face directory: `model.safetensors`, or the shards that `model.safetensors.index.json`
/// lists. Also opens a single .safetensors file.
class WeightFiles {
 public:
  /// DataError when neither is there, or when index and shards do not agree.
  explicit WeightFiles(const std::filesystem::path& folder_or_file);

  const std::filesystem::path& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }
  std::span<const TensorView> tensors() const { return tensors_; }
  /// nullptr when there is none of that name.
  const TensorView* find(std::string_view name) const;
  /// DataError naming file and tensor when there is none.
  const TensorView& at(std::string_view name) const;

 private:
  void add_file(const std::filesystem::path& file);
  void open_shards(const std::filesystem::path& index_file);

  std::filesystem::path path_;
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::vector<TensorView> tensors_;
  std::unordered_map<std::string, std::size_t> index_;
  Metadata metadata_;
};

}  // namespace eflops::checkpoint
