#include "programs/data_here.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "data/shard_manifest.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;

std::string about_shards(const fs::path& folder) {
  try {
    const data::ShardManifest manifest = data::read_manifest(folder);
    std::int64_t tokens = 0;
    std::int64_t documents = 0;
    for (const data::ManifestShard& shard : manifest.shards) {
      tokens += shard.tokens;
      documents += shard.documents;
    }
    return fmt::format("{} shard{}, {} documents, {} tokens, {}", manifest.shards.size(),
                       manifest.shards.size() == 1 ? "" : "s", documents, tokens, manifest.tokenizer);
  } catch (const DataError& error) {
    return fmt::format("no shards of ours: {}", error.what());
  }
}

}  // namespace

std::vector<std::string> lines_about(const fs::path& folder) {
  std::vector<std::string> lines;
  const auto holds = [&](const char* name) { return fs::is_regular_file(folder / name); };
  if (holds(data::kManifestName)) lines.push_back(fmt::format("{}: {}", folder.string(), about_shards(folder)));
  for (const char* name : {"vocab.txt", "spiece.model"})
    if (holds(name)) lines.push_back(fmt::format("{}: vocabulary {}", folder.string(), name));
  return lines;
}

void run_data_here(const Invocation& call) {
  std::vector<fs::path> folders{"."};
  for (const fs::directory_entry& entry : fs::directory_iterator("."))
    if (entry.is_directory()) folders.push_back(entry.path().filename());
  std::ranges::sort(folders);
  std::size_t found = 0;
  for (const fs::path& folder : folders)
    for (const std::string& line : lines_about(folder)) {
      fmt::print("{}\n", line);
      ++found;
    }
  if (found == 0) fmt::print("no shards and no vocabulary in this folder\n");
  fmt::print(
      "\nnext: `{0} train-vocab --input text.txt --output vocab` trains a vocabulary,\n"
      "      `{0} shard --input text.txt --vocabulary vocab --output shards` makes shards, `{0} stat shards` looks "
      "into\n"
      "      them; `{0} --help` lists everything\n",
      call.program);
}

}  // namespace eflops::programs
