#include "checkpoint/manifest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "checkpoint/untrusted_text.h"

namespace eflops::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::string_view kPrefix = "checkpoint-";

/// The end of a manifest: the checksum of every byte before it.
std::string signature(std::string_view body) {
  return fmt::format(",\n  \"manifest_xxh3\": \"{}\"\n}}\n", hex64(hash64(body)));
}

Manifest manifest_of(const Json& json, const std::string& where) {
  try {
    if (json.at("schema").get<std::int64_t>() != kSchema)
      throw DataError("{}: schema {}, this build reads {}", where, to_json_line(json.at("schema")), kSchema);
    Manifest manifest{.step = json.at("step").get<std::int64_t>(),
                      .metric = std::nullopt,
                      .created = json.at("created").get<std::string>(),
                      .files = {}};
    if (!json.at("metric").is_null()) manifest.metric = json.at("metric").get<double>();
    for (const Json& file : json.at("files")) {
      FileRecord record{.name = file.at("name").get<std::string>(),
                        .bytes = file.at("bytes").get<std::uint64_t>(),
                        .xxh3 = file.at("xxh3").get<std::string>()};
      if (!is_safe_relative_path(record.name)) throw DataError("{}: file name {}", where, shown(record.name));
      manifest.files.push_back(std::move(record));
    }
    return manifest;
  } catch (const Json::exception&) {
    throw DataError("{}: a key is missing or of another type", where);
  }
}

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("{}{}", kPrefix, step); }

std::optional<std::int64_t> checkpoint_step(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, status] = std::from_chars(name.data() + kPrefix.size(), end, step);
  // The round trip refuses "checkpoint-007", "checkpoint-+7" and the like.
  if (status != std::errc() || stop != end || step < 0 || checkpoint_name(step) != name) return std::nullopt;
  return step;
}

std::vector<FileRecord> record_files(const fs::path& folder) {
  std::vector<FileRecord> records;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    if (entry.is_symlink() || !(entry.is_regular_file() || entry.is_directory()))
      throw DataError("{}: {}: not a regular file", folder.string(), name);
    if (entry.is_directory() || name == kManifestName) continue;
    records.push_back({.name = name, .bytes = entry.file_size(), .xxh3 = hex64(hash_file(entry.path()))});
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return records;
}

std::string manifest_text(const Manifest& manifest) {
  Json files = Json::array();
  for (const FileRecord& file : manifest.files)
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"xxh3", file.xxh3}});
  Json json = {{"schema", kSchema}, {"step", manifest.step}, {"metric", nullptr}, {"created", manifest.created}};
  if (manifest.metric && std::isfinite(*manifest.metric)) json["metric"] = *manifest.metric;
  json["files"] = std::move(files);
  std::string body = json.dump(2);
  body.resize(body.rfind("\n}"));
  return body + signature(body);
}

Manifest read_manifest(const fs::path& folder) {
  const std::string where = fmt::format("{}: {}", folder.string(), kManifestName);
  std::error_code failed;
  if (!fs::exists(folder / kManifestName, failed) && !failed)
    throw DataError("{}: missing, so the checkpoint is not complete", where);
  const std::string text = read_file(folder / kManifestName);
  const std::size_t tail = signature("").size();
  const std::string_view body = std::string_view(text).substr(0, text.size() - std::min(tail, text.size()));
  if (std::string_view(text).substr(body.size()) != signature(body))
    throw DataError("{}: its own checksum does not match: torn or altered", where);
  Manifest manifest = manifest_of(parse_json(text, where), where);
  const std::optional<std::int64_t> named =
      checkpoint_step(fs::absolute(folder / ".").parent_path().filename().string());
  if (named && *named != manifest.step)
    throw DataError("{}: step {}, the folder's name says {}", where, manifest.step, *named);
  return manifest;
}

Manifest check_sizes(const fs::path& folder) {
  Manifest manifest = read_manifest(folder);
  for (const FileRecord& record : manifest.files) {
    std::error_code failed;
    const std::uint64_t bytes = fs::file_size(folder / record.name, failed);
    if (failed) throw DataError("{}: {}: {}", folder.string(), record.name, failed.message());
    if (bytes != record.bytes)
      throw DataError("{}: {}: {} bytes, the manifest says {}", folder.string(), record.name, bytes, record.bytes);
  }
  return manifest;
}

Manifest verify_checkpoint(const fs::path& folder) {
  Manifest manifest = check_sizes(folder);
  for (const FileRecord& record : manifest.files) {
    const std::string found = hex64(hash_file(folder / record.name));
    if (found != record.xxh3)
      throw DataError("{}: {}: checksum {}, the manifest says {}", folder.string(), record.name, found, record.xxh3);
  }
  return manifest;
}

}  // namespace eflops::checkpoint
