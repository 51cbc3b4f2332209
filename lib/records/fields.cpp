#include "records/fields.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace eflops::records {

Fields::Fields(const Json& object, std::string_view where) : object_(object), where_(where) {
  if (!object.is_object()) throw DataError("{}: not a JSON object", where_);
}

void Fields::fail(const char* key, const std::string& what) const { throw DataError("{}: {}: {}", where_, key, what); }

const Json& Fields::member(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) fail(key, "missing");
  return *found;
}

std::string Fields::text(const char* key) const {
  const Json& value = member(key);
  if (!value.is_string()) fail(key, "a text is expected");
  return value.get<std::string>();
}

std::string Fields::filled_text(const char* key) const {
  std::string value = text(key);
  if (value.empty()) fail(key, "empty");
  return value;
}

std::int64_t Fields::integer(const char* key) const {
  const Json& value = member(key);
  if (!value.is_number_integer()) fail(key, "an integer is expected");
  return value.get<std::int64_t>();
}

double Fields::number(const char* key) const {
  const Json& value = member(key);
  if (!value.is_number()) fail(key, "a number is expected");
  return value.get<double>();
}

bool Fields::truth(const char* key) const {
  const Json& value = member(key);
  if (!value.is_boolean()) fail(key, "true or false is expected");
  return value.get<bool>();
}

const Json& Fields::list(const char* key) const {
  const Json& value = member(key);
  if (!value.is_array()) fail(key, "a list is expected");
  return value;
}

const Json& Fields::object(const char* key) const {
  const Json& value = member(key);
  if (!value.is_object()) fail(key, "an object is expected");
  return value;
}

void for_each_line(const std::filesystem::path& file, const std::function<void(const Json&, const std::string&)>& use) {
  const std::string text = read_file(file);
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    ++line;
    const std::size_t newline = text.find('\n', begin);
    const std::string where = fmt::format("{}:{}", file.string(), line);
    // Every line is written with its end in one write: a line without one was cut off.
    if (newline == std::string::npos) throw DataError("{}: the last line is cut off", where);
    const std::string_view body(text.data() + begin, newline - begin);
    if (!body.empty()) use(parse_json(body, where), where);
    begin = newline + 1;
  }
}

}  // namespace eflops::records
