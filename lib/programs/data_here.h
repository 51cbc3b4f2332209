#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "programs/program.h"

namespace eflops::programs {

/// `eflops-data` without a verb: the folders of shards and vocabularies in the current folder and one level below it, a
/// line each, and what to do next. Opens no shard.
void run_data_here(const Invocation& call);

/// The lines for one folder: "shards/train: 2 shards, 1.2 M tokens, wordpiece …"; empty when nothing of ours lies
/// there. A damaged manifest is a line that says so.
std::vector<std::string> lines_about(const std::filesystem::path& folder);

}  // namespace eflops::programs
