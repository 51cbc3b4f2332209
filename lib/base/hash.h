#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace eflops {

/// XXH3 of a byte range.
std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0);

/// 16 lower-case hex digits.
std::string hex64(std::uint64_t value);

/// CRC-32C (Castagnoli; RFC 3720 section 12.1), the checksum of file formats that prescribe it.
std::uint32_t crc32c(std::string_view bytes);

/// XXH3 of a whole file, read in blocks. DataError names the file and the reason.
std::uint64_t hash_file(const std::filesystem::path& file);

}  // namespace eflops
