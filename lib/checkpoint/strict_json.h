#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace eflops::checkpoint {

/// Parses one JSON document and refuses, besides syntax errors, a key that stands twice in one object (a plain parser
/// would silently keep one of the two). DataError begins with `where`.
Json parse_strict_json(std::string_view text, std::string_view where);

/// `text` as a JSON string on one line, cut after 80 bytes: safe to print whatever a hostile file holds.
std::string shown(std::string_view text);

/// A JSON value on one line, cut after 80 bytes.
std::string shown_value(const Json& value);

/// Byte offset of the first byte that is not UTF-8 (RFC 3629: no overlong forms, no surrogates), or npos.
std::size_t find_invalid_utf8(std::string_view text);

/// True for a relative path that stays inside its folder: no root, no empty, "." or ".." part, no control characters.
bool is_safe_relative_path(std::string_view path);

}  // namespace eflops::checkpoint
