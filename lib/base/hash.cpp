#include "base/hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace eflops {

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t hash64(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
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
