#include "data/text_source_inputs.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "data/shard_manifest.h"
#include "data/sharding_folder.h"

namespace eflops::data {
namespace {

namespace fs = std::filesystem;

bool is_text_name(fs::path name) {
  constexpr std::array<std::string_view, 6> kEndings{"", ".txt", ".text", ".json", ".jsonl", ".ndjson"};
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  return std::ranges::find(kEndings, name.extension().string()) != kEndings.end();
}

/// Hidden, or a folder of our own shards: its vocabulary is not text.
bool is_left_out(const fs::path& path) {
  return path.filename().string().starts_with('.') ||
         (fs::exists(path / kManifestName) && fs::exists(path / ShardFolder::shard_name(0)));
}

class Expansion {
 public:
  void add(const std::string& input) {
    std::error_code ignored;
    if (input == "-") {
      has_stdin_ = true;
      add_file(input, input);
    } else if (fs::is_directory(input, ignored)) {
      add_folder(input);
    } else if (fs::exists(input, ignored)) {
      add_file(input, fs::weakly_canonical(input).string());
    } else if (input.find_first_of("*?[") != std::string::npos) {
      add_pattern(input);
    } else {
      throw DataError("{}: no such file or folder", input);
    }
  }

  InputFiles finish() {
    if (has_stdin_) result_.bytes = 0;
    return std::move(result_);
  }

 private:
  void add_file(const std::string& file, const std::string& identity) {
    if (!seen_.insert(identity).second)
      throw ConfigError("input {} is named twice: its sentences would count double", file);
    result_.files.push_back(file);
    std::error_code unknown;
    const auto size = fs::file_size(file, unknown);
    if (!unknown) result_.bytes += size;
  }

  void add_folder(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::follow_directory_symlink, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (is_left_out(entry->path())) {
        entry.disable_recursion_pending();
      } else if (entry->is_regular_file()) {
        if (is_text_name(entry->path().filename())) {
          found.push_back(entry->path());
        } else if (result_.skipped++ == 0) {
          result_.first_skipped = entry->path().string();
        }
      }
    }
    if (error) throw DataError("{}: cannot read the folder: {}", folder.string(), error.message());
    if (found.empty())
      throw DataError(
          "{}: no text in this folder (.txt, .text, .json, .jsonl, .ndjson or no ending; .gz, .zst behind it)",
          folder.string());
    std::ranges::sort(found);
    for (const fs::path& file : found) add_file(file.string(), fs::weakly_canonical(file).string());
  }

  void add_pattern(const std::string& pattern) {
    glob_t matches{};
    const int status = ::glob(pattern.c_str(), 0, nullptr, &matches);
    const std::vector<std::string> names(matches.gl_pathv, matches.gl_pathv + (status == 0 ? matches.gl_pathc : 0));
    ::globfree(&matches);
    if (names.empty()) throw DataError("{}: nothing matches this pattern", pattern);
    for (const std::string& name : names) add(name);
  }

  InputFiles result_;
  std::set<std::string> seen_;
  bool has_stdin_ = false;
};

}  // namespace

InputFiles expand_inputs(const std::vector<std::string>& inputs) {
  if (inputs.empty()) throw ConfigError("no input: name text files, folders, patterns, or - for standard input");
  Expansion expansion;
  for (const std::string& input : inputs) expansion.add(input);
  return expansion.finish();
}

}  // namespace eflops::data
