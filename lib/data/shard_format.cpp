#include "data/shard_format.h"

#include <algorithm>

#include "base/hash.h"

namespace eflops::data {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

}  // namespace

void BlockChecksum::update(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (block_.empty() && bytes.size() >= kBlock) {
      value_ = hash64(bytes.first(kBlock), value_);
      bytes = bytes.subspan(kBlock);
      continue;
    }
    const auto part = bytes.first(std::min(bytes.size(), kBlock - block_.size()));
    block_.insert(block_.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
    if (block_.size() == kBlock) {
      value_ = hash64(block_, value_);
      block_.clear();
    }
  }
}

std::uint64_t BlockChecksum::finish() const { return hash64(block_, value_); }

std::uint64_t section_checksum(std::span<const std::byte> bytes) {
  BlockChecksum checksum;
  checksum.update(bytes);
  return checksum.finish();
}

std::uint64_t header_checksum(const ShardHeader& header) {
  return hash64(std::as_bytes(std::span(&header, 1)).first(offsetof(ShardHeader, header_checksum)));
}

}  // namespace eflops::data
