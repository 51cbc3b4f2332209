#include "base/json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "base/error.h"

namespace eflops {
namespace {

constexpr std::size_t kShownBytes = 80;

}  // namespace

std::string to_json_line(const Json& value) {
  // nlohmann writes NaN and infinities as null by itself.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(std::string_view text, std::string_view where) {
  // The parser takes a zero byte for the end of its input and would ignore what hides behind it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw DataError("{}: not valid JSON at byte {}", where, zero + 1);
  std::vector<std::unordered_set<std::string>> open;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      throw DataError("{}: key {} stands twice in one object", where, shown(value.get<std::string>()));
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::parse_error& error) {
    throw DataError("{}: not valid JSON at byte {}", where, error.byte);
  }
}

std::string shown(std::string_view text) {
  if (text.size() <= kShownBytes) return to_json_line(Json(std::string(text)));
  return to_json_line(Json(std::string(text.substr(0, kShownBytes)) + "..."));
}

std::string shown_value(const Json& value) {
  std::string text = to_json_line(value);
  if (text.size() <= kShownBytes) return text;
  std::size_t end = kShownBytes;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return text.substr(0, end) + "...";
}

}  // namespace eflops
