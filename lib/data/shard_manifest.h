#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace eflops::data {

/// One shard of a folder, as its manifest lists it.
struct ManifestShard {
  std::string file;  ///< name inside the folder
  std::int64_t documents = 0;
  std::int64_t sentences = 0;
  std::int64_t tokens = 0;
};

/// What `eflops-data shard` writes beside its shards, as manifest.json; a folder without it is not finished.
struct ShardManifest {
  std::string format;                ///< of the text: "sentences", "plain", …
  std::vector<std::string> sources;  ///< input files, in order
  std::string tokenizer;             ///< description, one line
  std::uint64_t tokenizer_hash = 0;
  std::int64_t vocabulary_size = 0;
  std::vector<ManifestShard> shards;
  std::vector<std::pair<std::string, std::int64_t>> counts;  ///< everything counted while reading, odd things included
};

inline constexpr const char* kManifestName = "manifest.json";
/// The folder beside the shards that holds the vocabulary they were made with.
inline constexpr const char* kTokenizerFolder = "tokenizer";

/// Writes manifest.json atomically into a folder.
void write_manifest(const std::filesystem::path& folder, const ShardManifest& manifest);

/// Reads manifest.json. DataError when it is missing (an unfinished or foreign folder) or not as written.
ShardManifest read_manifest(const std::filesystem::path& folder);

/// The shards behind a path: itself if it is a file, those of its manifest in order if it is a folder. DataError when
/// the path, the manifest or a listed shard is missing.
std::vector<std::filesystem::path> shard_files(const std::filesystem::path& shard_or_folder);

}  // namespace eflops::data
