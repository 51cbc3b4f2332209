#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eflops::checkpoint {

/// Where a checkpoint keeps its manifest, relative to its folder.
inline constexpr const char* kManifestName = "trainer/manifest.json";

struct FileRecord {
  std::string name;         ///< relative to the checkpoint, with '/'
  std::uint64_t bytes = 0;  ///< its size
  std::string xxh3;         ///< hex64 of hash_file
};

/// What `trainer/manifest.json` says of a checkpoint. The manifest ends with a checksum of itself.
struct Manifest {
  std::int64_t step = 0;                        ///< optimiser steps done
  std::optional<double> metric = std::nullopt;  ///< what keep-best compares; none where it was not measured
  std::string created = {};                     ///< UTC
  std::vector<FileRecord> files = {};           ///< every other file of the folder, sorted by name
};

/// Sizes and checksums of all files under `folder` but the manifest. DataError for a symbolic link or special file.
std::vector<FileRecord> record_files(const std::filesystem::path& folder);

std::string manifest_text(const Manifest& manifest);

/// Reads the manifest of a checkpoint folder. DataError "FOLDER: trainer/manifest.json: reason" when it is missing,
/// torn, altered, or of a step other than the folder's name says.
Manifest read_manifest(const std::filesystem::path& folder);

/// read_manifest, then each file's presence and size: a cheap check that reads no data.
Manifest check_sizes(const std::filesystem::path& folder);

/// check_sizes, then each file's checksum. DataError "FOLDER: FILE: reason" for the first file that differs.
Manifest verify_checkpoint(const std::filesystem::path& folder);

/// "checkpoint-200", and the step of such a name, if it is one.
std::string checkpoint_name(std::int64_t step);
std::optional<std::int64_t> checkpoint_step(const std::string& name);

}  // namespace eflops::checkpoint
