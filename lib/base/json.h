#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace eflops {

using Json = nlohmann::ordered_json;

/// Compact JSON on one line; NaN and infinities become null (C31), invalid UTF-8 becomes U+FFFD.
std::string to_json_line(const Json& value);

/// Parses one document; DataError with `where` and the byte offset on a syntax error.
Json parse_json(std::string_view text, std::string_view where);

}  // namespace eflops
