#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace eflops {

using Json = nlohmann::ordered_json;

/// Compact JSON on one line; NaN and infinities become null (C31), invalid UTF-8 becomes U+FFFD.
std::string to_json_line(const Json& value);

/// Parses one document. Besides syntax errors it refuses bytes behind a zero byte and a key that stands twice in one
/// object (a plain parser would silently keep one of the two). DataError with `where` and the byte offset or key.
Json parse_json(std::string_view text, std::string_view where);

/// `text` as a JSON string on one line, cut after 80 bytes: safe to print whatever a hostile file holds.
std::string shown(std::string_view text);

/// A JSON value on one line, cut after 80 bytes.
std::string shown_value(const Json& value);

}  // namespace eflops
