#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace eflops::records {

/// Typed access to the members of a JSON object: DataError "where: key: …" for one that is missing or of another type.
/// Holds references: for use within one function.
class Fields {
 public:
  Fields(const Json& object, std::string_view where);

  std::string text(const char* key) const;
  std::string filled_text(const char* key) const;  ///< not empty
  std::int64_t integer(const char* key) const;
  double number(const char* key) const;
  bool truth(const char* key) const;
  const Json& member(const char* key) const;
  const Json& list(const char* key) const;
  const Json& object(const char* key) const;
  [[noreturn]] void fail(const char* key, const std::string& what) const;
  const std::string& where() const { return where_; }

 private:
  const Json& object_;
  std::string where_;
};

/// Calls `use(document, "file:line")` for each non-empty line of a JSON-lines file.
void for_each_line(const std::filesystem::path& file, const std::function<void(const Json&, const std::string&)>& use);

}  // namespace eflops::records
