#pragma once

#include <fmt/format.h>

#include <string>

namespace eflops::log {

enum class Level { Debug, Info, Warning, Error, Off };

/// Sets what is written to stderr; the default is Info.
void set_level(Level level);

/// Writes one line to stderr with time and level. Thread-safe.
void write(Level level, const std::string& message);

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Debug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Warning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace eflops::log
