#include "config/find_config.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>

#include "base/error.h"

namespace eflops::config {
namespace {

namespace fs = std::filesystem;

// Pipes are fine (`--config <(generate)`), folders are not.
bool is_readable_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

}  // namespace

std::vector<fs::path> search_folders() {
  std::vector<fs::path> folders{".", "configs"};
  if (const char* given = std::getenv("EFLOPS_CONFIG_PATH")) {
    std::istringstream list{std::string(given)};
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.emplace_back(folder);
  }
  std::error_code unreadable;
  const fs::path program = fs::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) folders.push_back(program.parent_path().parent_path() / "share" / "eflops" / "configs");
  return folders;
}

fs::path find_config(const std::string& name) {
  if (name.empty()) throw ConfigError("--config: the name of an experiment file is empty");
  const std::vector<fs::path> folders = fs::path(name).is_absolute() ? std::vector<fs::path>{""} : search_folders();
  std::vector<std::string> searched;
  for (const fs::path& folder : folders) {
    // "./x" reads as "x" in every message and record.
    const fs::path candidate = folder == "." ? fs::path(name) : folder / name;
    if (is_readable_file(candidate)) return candidate;
    if (const fs::path with_extension = candidate.string() + ".yaml"; is_readable_file(with_extension))
      return with_extension;
    searched.push_back(folder.empty() ? "/" : folder.string());
  }
  throw ConfigError("no experiment file '{}' or '{}.yaml' in {} (EFLOPS_CONFIG_PATH adds folders)", name, name,
                    fmt::join(searched, ", "));
}

}  // namespace eflops::config
