#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace eflops {

/// What a program's exit status means (DESIGN 2); `--help` prints the same list.
enum class ExitCode : int {
  Done = 0,
  CheckFailed = 1,
  Config = 2,
  Data = 3,
  Comm = 4,
  Timeout = 5,
  Internal = 70,
  Interrupted = 75,
};

/// Base of every error we throw: one line for people and the exit code of who can act on it.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode exit_code() const { return code_; }

 private:
  ExitCode code_;
};

/// An error class whose constructor takes a format string: `throw DataError("{}:{}: not UTF-8", file, line)`.
template <ExitCode Code>
class CodedError : public Error {
 public:
  template <typename... Args>
  explicit CodedError(fmt::format_string<Args...> format, Args&&... args)
      : Error(Code, fmt::format(format, std::forward<Args>(args)...)) {}
};

using CheckFailed = CodedError<ExitCode::CheckFailed>;  ///< a check or gate said no: NaN loss, slower than the baseline
using ConfigError = CodedError<ExitCode::Config>;       ///< the user's options or experiment file
using DataError = CodedError<ExitCode::Data>;           ///< the user's data, a file system, a damaged file
using CommError = CodedError<ExitCode::Comm>;           ///< a peer, a device, a network
using TimeoutError = CodedError<ExitCode::Timeout>;     ///< a deadline passed
using InternalError = CodedError<ExitCode::Internal>;   ///< our own fault
using InterruptedError = CodedError<ExitCode::Interrupted>;  ///< stopped by a signal after a clean checkpoint

}  // namespace eflops

/// Guards our own invariants; a failure is InternalError with file and line. Never for user input.
#define EFLOPS_CHECK(condition, ...)                                                                               \
  do {                                                                                                             \
    if (!(condition)) [[unlikely]]                                                                                 \
      throw ::eflops::InternalError("{}:{}: {} ({})", __FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
