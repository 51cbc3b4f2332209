#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace eflops::checkpoint::testing {

/// A plain write, for files that a test makes wrong on purpose.
inline void write_raw(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << bytes;
  ASSERT_TRUE(out.flush()) << file;
}

/// A safetensors file with this header, whatever it holds, and `data_bytes` zeros.
inline std::string with_header(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + std::string(data_bytes, '\0');
}

/// The message of the DataError that `work` throws; "" and a failure when it throws none. Must be one line.
template <typename Work>
std::string data_error(const Work& work) {
  try {
    work();
  } catch (const DataError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "no DataError";
  return "";
}

}  // namespace eflops::checkpoint::testing
