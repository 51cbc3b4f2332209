#include "checkpoint/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/safetensors_header.h"
#include "checkpoint/untrusted_text.h"

namespace eflops::checkpoint {
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;

/// tensor name -> shard file name, as the index lists them.
std::map<std::string, std::string> read_weight_map(const std::filesystem::path& index_file) {
  const Json index = parse_json(read_file(index_file), index_file.string());
  const auto weight_map = index.find("weight_map");
  if (!index.is_object() || weight_map == index.end() || !weight_map->is_object() || weight_map->empty())
    throw DataError("{}: no \"weight_map\" object with tensor names and file names", index_file.string());
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : weight_map->items()) {
    const std::string name = shard.is_string() ? shard.get<std::string>() : "";
    if (!is_safe_relative_path(name) || name.find('/') != std::string::npos)
      throw DataError("{}: weight_map: {} is {}, expected a file name in the same folder", index_file.string(),
                      shown(tensor), shown_value(shard));
    shard_of[tensor] = name;
  }
  return shard_of;
}

}  // namespace

void write_safetensors(const std::filesystem::path& file, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  std::vector<const TensorView*> ordered;
  for (const TensorView& tensor : tensors) ordered.push_back(&tensor);
  std::sort(ordered.begin(), ordered.end(), [](const TensorView* a, const TensorView* b) {
    return std::tuple(-dtype_size(a->dtype), a->name) < std::tuple(-dtype_size(b->dtype), b->name);
  });
  AtomicFile out(file);
  out.write(make_safetensors_header(ordered, metadata));
  // In blocks: the file's buffer must not grow to the size of an embedding table.
  for (const TensorView* tensor : ordered)
    for (std::size_t at = 0; at < tensor->bytes.size(); at += kBlockBytes)
      out.write(tensor->bytes.subspan(at, std::min(kBlockBytes, tensor->bytes.size() - at)));
  out.commit();
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& file) : map_(file) {
  SafetensorsContents contents = parse_safetensors(map_.bytes(), file.string());
  tensors_ = std::move(contents.tensors);
  metadata_ = std::move(contents.metadata);
}

WeightFiles::WeightFiles(const std::filesystem::path& folder_or_file) : path_(folder_or_file) {
  namespace fs = std::filesystem;
  const fs::path whole = path_ / "model.safetensors";
  const fs::path index = path_ / "model.safetensors.index.json";
  std::error_code failed;
  const fs::file_status status = fs::status(path_, failed);
  if (!fs::exists(status)) throw DataError("{}: {}", path_.string(), failed.message());
  if (!fs::is_directory(status)) {
    add_file(path_);
  } else if (fs::exists(whole, failed)) {
    add_file(whole);
  } else if (fs::exists(index, failed)) {
    open_shards(index);
  } else {
    throw DataError(
        "{}: neither model.safetensors nor model.safetensors.index.json{}", path_.string(),
        fs::exists(path_ / "pytorch_model.bin", failed) ? " (pytorch_model.bin is there: convert it first)" : "");
  }
}

void WeightFiles::add_file(const std::filesystem::path& file) {
  files_.push_back(std::make_unique<SafetensorsFile>(file));
  metadata_.insert(files_.back()->metadata().begin(), files_.back()->metadata().end());
  for (const TensorView& tensor : files_.back()->tensors()) {
    if (!index_.emplace(tensor.name, tensors_.size()).second)
      throw DataError("{}: tensor {} is also in another shard", file.string(), shown(tensor.name));
    tensors_.push_back(tensor);
  }
}

void WeightFiles::open_shards(const std::filesystem::path& index_file) {
  const std::map<std::string, std::string> shard_of = read_weight_map(index_file);
  std::map<std::string, std::size_t> listed;
  for (const auto& [tensor, shard] : shard_of) ++listed[shard];
  for (const auto& [shard, count] : listed) {
    const std::size_t before = tensors_.size();
    add_file(path_ / shard);
    for (std::size_t i = before; i < tensors_.size(); ++i) {
      const auto entry = shard_of.find(tensors_[i].name);
      if (entry == shard_of.end() || entry->second != shard)
        throw DataError("{}: tensor {} is in {}, the index says {}", index_file.string(), shown(tensors_[i].name),
                        shard, entry == shard_of.end() ? "nothing of it" : entry->second);
    }
    if (tensors_.size() - before != count)
      throw DataError("{}: {} tensors are listed in {}, which has {}", index_file.string(), count, shard,
                      tensors_.size() - before);
  }
}

const TensorView* WeightFiles::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const TensorView& WeightFiles::at(std::string_view name) const {
  const TensorView* found = find(name);
  if (found == nullptr) throw DataError("{}: no tensor {}", path_.string(), shown(name));
  return *found;
}

}  // namespace eflops::checkpoint
