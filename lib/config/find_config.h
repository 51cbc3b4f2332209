#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eflops::config {

/// Where experiment files are looked for, in order: the current folder, its `configs/`, the folders of
/// EFLOPS_CONFIG_PATH (separated by ':'), and `share/eflops/configs` of the installation this program belongs to.
std::vector<std::filesystem::path> search_folders();

/// Finds an experiment by name: an absolute path, or a path under one of the search folders, with or without `.yaml`.
/// ConfigError names the folders that were searched.
std::filesystem::path find_config(const std::string& name);

}  // namespace eflops::config
