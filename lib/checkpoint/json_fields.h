#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"

namespace eflops::checkpoint {

/// Typed reading of one JSON object in a file; every DataError names file, key, the value found and what would be
/// valid.
class JsonFields {
 public:
  /// Reads and parses the file. DataError unless it is an object.
  explicit JsonFields(const std::filesystem::path& file);
  ~JsonFields();
  JsonFields(const JsonFields&) = delete;
  JsonFields& operator=(const JsonFields&) = delete;

  /// False also where the value is null.
  bool has(const std::string& key) const;
  std::int64_t integer(const std::string& key, std::int64_t min) const;
  double number(const std::string& key, double min, double max) const;
  std::string text(const std::string& key) const;
  bool boolean(const std::string& key) const;
  /// First text of a list of text.
  std::string first_text(const std::string& key) const;
  std::map<std::string, std::string> text_map(const std::string& key) const;

  /// DataError "FILE: KEY is VALUE, expected ...".
  [[noreturn]] void refuse(const std::string& key, std::string_view expected) const;

 private:
  const Json& at(const std::string& key, std::string_view expected) const;

  std::string where_;
  std::unique_ptr<Json> json_;
};

}  // namespace eflops::checkpoint
