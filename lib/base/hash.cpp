#include "base/hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace eflops {
namespace {

// What eight shifts make of each byte; 0x82F63B78 is Castagnoli's polynomial 0x1EDC6F41, lowest bit first.
constexpr std::array<std::uint32_t, 256> kCrc32cOfByte = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    table[byte] = crc;
  }
  return table;
}();

}  // namespace

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t hash64(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) crc = crc >> 8 ^ kCrc32cOfByte[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

std::string hex64(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::uint64_t hash_file(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw DataError("{}: {}", file.string(), std::strerror(errno));
  XXH3_state_t* state = XXH3_createState();
  XXH3_64bits_reset(state);
  std::vector<char> block(1 << 20);
  ssize_t got = 0;
  while ((got = ::read(descriptor, block.data(), block.size())) > 0)
    XXH3_64bits_update(state, block.data(), static_cast<std::size_t>(got));
  const int reason = errno;
  const std::uint64_t digest = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  ::close(descriptor);
  if (got < 0) throw DataError("{}: {}", file.string(), std::strerror(reason));
  return digest;
}

}  // namespace eflops
