#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/shard_format.h"

namespace eflops::data {

/// Which tokenizer made the ids of a shard.
struct TokenizerIdentity {
  std::uint64_t hash = 0;
  std::string description;  ///< for people, one line
  std::int32_t vocabulary_size = 0;
};

/// Writes one shard sentence by sentence; tokens go to the disk as they come, 8 bytes per sentence and per document
/// stay in memory until commit(). The file appears whole at commit() or not at all.
class ShardWriter {
 public:
  /// DataError when the file cannot be made, ConfigError for a vocabulary without entries.
  ShardWriter(const std::filesystem::path& file, const TokenizerIdentity& tokenizer);

  /// Adds a sentence to the open document (not empty; ids within the vocabulary).
  void add_sentence(std::span<const std::int32_t> ids);
  /// Ends the open document; nothing happens if it has no sentence yet.
  void end_document();

  std::int64_t documents() const { return static_cast<std::int64_t>(document_starts_.size()) - 1; }
  std::int64_t sentences() const { return static_cast<std::int64_t>(sentence_starts_.size()) - 1; }
  std::int64_t tokens() const { return static_cast<std::int64_t>(sentence_starts_.back()); }

  /// Ends the open document, writes the header and makes the file appear.
  void commit();

 private:
  void write_tokens(std::span<const std::byte> bytes);
  ShardSection write_section(std::span<const std::byte> bytes);
  void pad();

  AtomicFile file_;
  TokenizerIdentity tokenizer_;
  std::uint32_t token_bytes_;
  BlockChecksum token_checksum_;
  std::vector<std::uint64_t> document_starts_{0};
  std::vector<std::uint64_t> sentence_starts_{0};
  std::vector<std::uint16_t> narrow_;
};

}  // namespace eflops::data
