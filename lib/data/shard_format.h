#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace eflops::data {

// A shard file, little endian:
//   header | tokens | document starts | sentence starts | description
// Sections begin at multiples of 8 bytes, the gaps are zero. `document starts` has documents + 1 entries (u64), the
// index of a document's first sentence; `sentence starts` has sentences + 1 entries (u64), the index of a sentence's
// first token. Tokens are u16 where the vocabulary has at most 65,536 entries, else u32. `description` is text about
// the tokenizer.
static_assert(std::endian::native == std::endian::little, "shards are read in place and are little endian");

inline constexpr std::uint64_t kShardMagic = 0x314452'4853'4645;  // "EFSHRD1\0"
inline constexpr std::uint32_t kShardVersion = 1;

struct ShardSection {
  std::uint64_t offset = 0;  ///< from the start of the file
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  ///< BlockChecksum of the bytes
};

struct ShardHeader {
  std::uint64_t magic = kShardMagic;
  std::uint32_t version = kShardVersion;
  std::uint32_t token_bytes = 2;  ///< 2 or 4
  std::uint64_t vocabulary_size = 0;
  std::uint64_t tokenizer_hash = 0;
  std::uint64_t documents = 0;
  std::uint64_t sentences = 0;
  std::uint64_t tokens = 0;
  ShardSection token_data;
  ShardSection document_starts;
  ShardSection sentence_starts;
  ShardSection description;
  std::uint64_t header_checksum = 0;  ///< XXH3 of everything before it
};
static_assert(sizeof(ShardHeader) == 160 && alignof(ShardHeader) == 8);

/// Width of a stored id: 2 bytes up to 65,536 ids, else 4.
constexpr std::uint32_t token_bytes_for(std::uint64_t vocabulary_size) { return vocabulary_size <= 65536 ? 2 : 4; }

constexpr std::uint64_t align_to_8(std::uint64_t size) { return (size + 7) / 8 * 8; }

/// XXH3 chained over blocks of 1 MiB: the value of a long section computed from pieces of any size.
class BlockChecksum {
 public:
  void update(std::span<const std::byte> bytes);
  std::uint64_t finish() const;

 private:
  std::uint64_t value_ = 0;
  std::vector<std::byte> block_;  ///< less than one block, not hashed yet
};

std::uint64_t section_checksum(std::span<const std::byte> bytes);
std::uint64_t header_checksum(const ShardHeader& header);

}  // namespace eflops::data
