#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"

namespace eflops::config {

/// What an experiment file says, in the order of its lines. Values are text: base/options.h gives them their types, and
/// every error there begins with the assignment's source.
struct YamlFile {
  std::string name;            ///< as errors show it: "configs/mini.yaml"
  std::string program;         ///< "eflops-pretrain", "eflops-data shard"; empty in a file of shared settings
  std::string program_source;  ///< "configs/mini.yaml:1"
  std::vector<Assignment> assignments;
};

/// Reads the part of YAML 1.2 that has one meaning: nested keys, plain or quoted scalars, lists of scalars, comments.
/// ConfigError `name:line: key path: …` for everything else: a repeated key (also `a.b:` beside `a: {b:}`, and '-' for
/// '_'), a key or group without a value, a list of groups, anchors, aliases, tags, merge keys, a second document, bytes
/// that are not UTF-8 text, and `program:` anywhere but in the first place. An empty file says nothing and is an error.
YamlFile parse_yaml(std::string_view text, const std::string& name);

/// parse_yaml of a file of at most 1 MiB. ConfigError when it cannot be read.
YamlFile read_yaml(const std::filesystem::path& file);

}  // namespace eflops::config
