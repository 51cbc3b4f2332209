#include "base/json.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace eflops {

std::string to_json_line(const Json& value) {
  // nlohmann writes NaN and infinities as null by itself.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(std::string_view text, std::string_view where) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw DataError("{}: not valid JSON at byte {}", where, error.byte);
  }
}

}  // namespace eflops
