#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace eflops::testing {

/// The folder of real data (GLUE, SQuAD, text, vocabularies): $EFLOPS_DATA, else ../shared/data beside the repository.
/// Empty where there is none: the caller skips and prints why.
inline std::optional<std::filesystem::path> data_folder() {
  const char* given = std::getenv("EFLOPS_DATA");
  const std::filesystem::path folder = given != nullptr
                                           ? std::filesystem::path(given)
                                           : std::filesystem::path(EFLOPS_SOURCE_DIR) / ".." / "shared" / "data";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

}  // namespace eflops::testing

/// Skips the test, saying why, where the real data are absent; else defines `name` as the folder.
#define EFLOPS_NEED_DATA(name)                                                                      \
  const auto name##_found = ::eflops::testing::data_folder();                                       \
  if (!name##_found) GTEST_SKIP() << "no real data: set EFLOPS_DATA or put them in ../shared/data"; \
  const std::filesystem::path name = *name##_found
