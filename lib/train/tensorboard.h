#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "train/trainable.h"

namespace eflops::train {

/// A TensorBoard event file: TFRecord frames (little-endian length, masked CRC-32C of the length, message, masked
/// CRC-32C of the message) of protobuf `tensorflow.Event` messages (tensorflow/core/util/event.proto), encoded by hand.
/// One process writes one file; a resumed run adds the next one to the folder.
class EventFile {
 public:
  using Clock = double (*)();  ///< seconds since 1970

  /// Creates FOLDER/events.out.tfevents.SECONDS.HOST.PID, after all others there by name, which is the order of
  /// reading. It begins with the version and a session start that has readers drop what earlier files hold of steps
  /// beyond `resumed_step`. DataError when it cannot be written.
  EventFile(const std::filesystem::path& folder, std::int64_t resumed_step, Clock clock = unix_seconds);

  /// Writes scalars KIND/NAME of a step, rounded to float (all that the format has) and NaN or infinite as they are; a
  /// reader sees them at once. DataError when they cannot be written.
  void append(std::int64_t step, std::string_view kind, std::span<const NamedValue> values);

  const std::filesystem::path& path() const { return path_; }
  static double unix_seconds();

 private:
  void write(std::string_view records);

  Clock clock_;
  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace eflops::train
