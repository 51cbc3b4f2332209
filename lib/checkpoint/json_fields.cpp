#include "checkpoint/json_fields.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace eflops::checkpoint {

JsonFields::JsonFields(const std::filesystem::path& file)
    : where_(file.string()), json_(std::make_unique<Json>(parse_json(read_file(file), where_))) {
  if (!json_->is_object()) throw DataError("{}: expected an object", where_);
}

JsonFields::~JsonFields() = default;

bool JsonFields::has(const std::string& key) const { return json_->contains(key) && !(*json_)[key].is_null(); }

void JsonFields::refuse(const std::string& key, std::string_view expected) const {
  throw DataError("{}: {} is {}, expected {}", where_, key,
                  json_->contains(key) ? shown_value((*json_)[key]) : "missing", expected);
}

const Json& JsonFields::at(const std::string& key, std::string_view expected) const {
  if (!json_->contains(key)) refuse(key, expected);
  return (*json_)[key];
}

std::int64_t JsonFields::integer(const std::string& key, std::int64_t min) const {
  const std::string expected = fmt::format("an integer from {}", min);
  const Json& value = at(key, expected);
  if (!value.is_number_integer()) refuse(key, expected);
  const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (too_large || value.get<std::int64_t>() < min) refuse(key, expected);
  return value.get<std::int64_t>();
}

double JsonFields::number(const std::string& key, double min, double max) const {
  const std::string expected = fmt::format("a number from {} to {}", min, max);
  const Json& value = at(key, expected);
  if (!value.is_number()) refuse(key, expected);
  const double number = value.get<double>();
  if (!(number >= min && number <= max)) refuse(key, expected);
  return number;
}

std::string JsonFields::text(const std::string& key) const {
  const Json& value = at(key, "text");
  if (!value.is_string()) refuse(key, "text");
  return value.get<std::string>();
}

bool JsonFields::boolean(const std::string& key) const {
  const Json& value = at(key, "true or false");
  if (!value.is_boolean()) refuse(key, "true or false");
  return value.get<bool>();
}

std::string JsonFields::first_text(const std::string& key) const {
  const Json& value = at(key, "a list of text");
  if (!value.is_array() || value.empty() || !value[0].is_string()) refuse(key, "a list of text");
  return value[0].get<std::string>();
}

std::map<std::string, std::string> JsonFields::text_map(const std::string& key) const {
  const Json& value = at(key, "an object of text");
  if (!value.is_object()) refuse(key, "an object of text");
  std::map<std::string, std::string> map;
  for (const auto& [name, text] : value.items()) {
    if (!text.is_string()) refuse(key, "an object of text");
    map[name] = text.get<std::string>();
  }
  return map;
}

}  // namespace eflops::checkpoint
