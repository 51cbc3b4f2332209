#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eflops::data {

/// The files behind what a user named as input.
struct InputFiles {
  std::vector<std::string> files;  ///< in reading order; "-" is standard input
  std::uint64_t bytes = 0;         ///< of all files; 0 when standard input is among them
  std::int64_t skipped = 0;        ///< files inside folders whose ending is not that of text
  std::string first_skipped;
};

/// Expands inputs in the order given: a file is itself, "-" is standard input, a folder gives its files (recursively,
/// sorted by path; hidden ones, folders of shards, and files with other endings than none, .txt, .text, .json, .jsonl,
/// .ndjson, each also with .gz or .zst, are left out), a pattern with * ? [ gives its matches, sorted. DataError for
/// what is missing, empty or matches nothing; ConfigError for an input that is named twice or when there is none.
InputFiles expand_inputs(const std::vector<std::string>& inputs);

}  // namespace eflops::data
