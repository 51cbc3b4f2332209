#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/shard_format.h"

namespace eflops::data {

/// One shard, mapped from a file or held in memory: a validated view of the arrays of shard_format.h. Const and
/// thread-safe.
class Shard {
 public:
  /// Checks the header, the sizes and the document borders; O(documents). DataError says which file and what is wrong.
  explicit Shard(const std::filesystem::path& file);
  /// A shard in memory; InternalError on an empty document or sentence, or an id outside the vocabulary.
  Shard(const std::vector<std::vector<std::vector<std::int32_t>>>& documents, std::int32_t vocabulary_size);
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  const ShardHeader& header() const { return header_; }
  const std::string& description() const { return description_; }
  const std::string& name() const { return name_; }

  std::int64_t sentence_count(std::int64_t document) const;
  std::int64_t sentence_length(std::int64_t document, std::int64_t sentence) const;
  void append_sentence(std::int64_t document, std::int64_t sentence, std::vector<std::int32_t>& out) const;

  /// Compares every section with its checksum, every start with its neighbour and every id with the vocabulary.
  void verify() const;

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  Range tokens_of(std::int64_t document, std::int64_t sentence) const;
  std::span<const std::byte> section(const ShardSection& section, const char* what, std::uint64_t expected_bytes) const;

  std::string name_;  ///< the file, or "documents in memory", for errors
  std::optional<MappedFile> map_;
  std::vector<std::uint64_t> owned_starts_;
  std::vector<std::uint32_t> owned_tokens_;
  ShardHeader header_;
  std::string description_;
  std::span<const std::byte> tokens_;
  std::span<const std::uint64_t> document_starts_;
  std::span<const std::uint64_t> sentence_starts_;
};

}  // namespace eflops::data
