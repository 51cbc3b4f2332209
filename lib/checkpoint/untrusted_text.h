#pragma once

#include <cstddef>
#include <string_view>

namespace eflops::checkpoint {

/// Byte offset of the first byte that is not UTF-8 (RFC 3629: no overlong forms, no surrogates), or npos.
std::size_t find_invalid_utf8(std::string_view text);

/// True for a relative path that stays inside its folder: no root, no empty, "." or ".." part, no control characters.
bool is_safe_relative_path(std::string_view path);

}  // namespace eflops::checkpoint
