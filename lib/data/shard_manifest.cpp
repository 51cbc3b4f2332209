#include "data/shard_manifest.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"

namespace eflops::data {
namespace {

constexpr int kManifestVersion = 1;

ShardManifest from_json(const Json& json) {
  ShardManifest manifest;
  manifest.format = json.at("format").get<std::string>();
  manifest.sources = json.at("sources").get<std::vector<std::string>>();
  const Json& tokenizer = json.at("tokenizer");
  manifest.tokenizer = tokenizer.at("description").get<std::string>();
  manifest.tokenizer_hash = std::stoull(tokenizer.at("hash").get<std::string>(), nullptr, 16);
  manifest.vocabulary_size = tokenizer.at("vocabulary_size").get<std::int64_t>();
  for (const Json& shard : json.at("shards"))
    manifest.shards.push_back({shard.at("file").get<std::string>(), shard.at("documents").get<std::int64_t>(),
                               shard.at("sentences").get<std::int64_t>(), shard.at("tokens").get<std::int64_t>()});
  for (const auto& [name, count] : json.at("counts").items())
    manifest.counts.emplace_back(name, count.get<std::int64_t>());
  return manifest;
}

}  // namespace

void write_manifest(const std::filesystem::path& folder, const ShardManifest& manifest) {
  Json json;
  json["eflops_shards"] = kManifestVersion;
  json["format"] = manifest.format;
  json["sources"] = manifest.sources;
  json["tokenizer"] = {{"description", manifest.tokenizer},
                       {"hash", hex64(manifest.tokenizer_hash)},
                       {"vocabulary_size", manifest.vocabulary_size},
                       {"folder", kTokenizerFolder}};
  json["counts"] = Json::object();
  for (const auto& [name, count] : manifest.counts) json["counts"][name] = count;
  json["shards"] = Json::array();
  for (const ManifestShard& shard : manifest.shards)
    json["shards"].push_back({{"file", shard.file},
                              {"documents", shard.documents},
                              {"sentences", shard.sentences},
                              {"tokens", shard.tokens}});
  write_file_atomically(folder / kManifestName, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

ShardManifest read_manifest(const std::filesystem::path& folder) {
  const auto file = folder / kManifestName;
  if (!std::filesystem::exists(file))
    throw DataError("{}: no {}: not a folder of shards, or one that was not finished", folder.string(), kManifestName);
  const Json json = parse_json(read_file(file), file.string());
  try {
    if (const int version = json.at("eflops_shards").get<int>(); version != kManifestVersion)
      throw DataError("{}: version {}, this program reads version {}", file.string(), version, kManifestVersion);
    return from_json(json);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw DataError("{}: not a manifest of shards: {}", file.string(), error.what());
  }
}

std::vector<std::filesystem::path> shard_files(const std::filesystem::path& shard_or_folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(shard_or_folder, ignored))
    throw DataError("{}: no such shard or folder", shard_or_folder.string());
  if (!std::filesystem::is_directory(shard_or_folder, ignored)) return {shard_or_folder};
  std::vector<std::filesystem::path> files;
  for (const ManifestShard& shard : read_manifest(shard_or_folder).shards) {
    files.push_back(shard_or_folder / shard.file);
    if (!std::filesystem::exists(files.back(), ignored))
      throw DataError("{}: {} lists {}, which is missing", shard_or_folder.string(), kManifestName, shard.file);
  }
  return files;
}

}  // namespace eflops::data
