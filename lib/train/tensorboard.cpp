#include "train/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "machine/machine.h"

namespace eflops::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";

template <typename Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) bytes.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>((value & 0x7F) | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

// Protobuf fields: the key is number * 8 + wire type (0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes).
std::string integer_field(unsigned number, std::uint64_t value) { return varint(number << 3) + varint(value); }
std::string double_field(unsigned number, double value) {
  return varint(number << 3 | 1) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string float_field(unsigned number, float value) {
  return varint(number << 3 | 5) + little_endian(std::bit_cast<std::uint32_t>(value));
}
std::string bytes_field(unsigned number, std::string_view bytes) {
  return varint(number << 3 | 2).append(varint(bytes.size())).append(bytes);
}

// TFRecord masks its checksums, since a CRC over bytes that hold their own CRC is weak.
std::string masked_crc(std::string_view bytes) {
  return little_endian<std::uint32_t>(std::rotr(crc32c(bytes), 15) + 0xA282EAD8U);
}

std::string tfrecord(std::string_view message) {
  const std::string length = little_endian<std::uint64_t>(message.size());
  return (length + masked_crc(length)).append(message) + masked_crc(message);
}

// Event: 1 wall_time, 2 step, and one of 3 file_version, 5 summary, 7 session_log.
std::string version_event(double time) { return double_field(1, time) + bytes_field(3, "brain.Event:2"); }

// SessionLog: 1 status, where 1 is START. A reader drops the event's own step and later ones.
std::string start_event(double time, std::int64_t first_step) {
  return double_field(1, time) + integer_field(2, static_cast<std::uint64_t>(first_step)) +
         bytes_field(7, integer_field(1, 1));
}

// Summary: repeated 1 Value; Value: 1 tag, 2 simple_value.
std::string scalars_event(double time, std::int64_t step, std::string_view kind, std::span<const NamedValue> values) {
  std::string summary;
  for (const NamedValue& value : values)
    summary += bytes_field(
        1, bytes_field(1, fmt::format("{}/{}", kind, value.name)) + float_field(2, static_cast<float>(value.value)));
  return double_field(1, time) + integer_field(2, static_cast<std::uint64_t>(step)) + bytes_field(5, summary);
}

// The greatest SECONDS of the event files in a folder; 0 without one.
std::int64_t newest_seconds(const fs::path& folder) {
  std::int64_t newest = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::int64_t seconds = 0;
    if (!name.starts_with(kPrefix)) continue;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), seconds);
    newest = std::max(newest, seconds);
  }
  return newest;
}

}  // namespace

double EventFile::unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventFile::EventFile(const fs::path& folder, std::int64_t resumed_step, Clock clock) : clock_(clock) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw DataError("{}: cannot create the folder: {}", folder.string(), error.message());
  const double now = clock_();
  // Two processes within a second, or on hosts whose clocks differ, still give names in the order of their starts.
  const std::int64_t seconds = std::max(static_cast<std::int64_t>(now), newest_seconds(folder) + 1);
  path_ = folder / fmt::format("{}{:010}.{}.{}", kPrefix, seconds, machine::host_name(), ::getpid());
  out_.open(path_, std::ios::binary | std::ios::app);
  write(tfrecord(version_event(now)) + tfrecord(start_event(now, resumed_step + 1)));
}

void EventFile::append(std::int64_t step, std::string_view kind, std::span<const NamedValue> values) {
  write(tfrecord(scalars_event(clock_(), step, kind, values)));
}

void EventFile::write(std::string_view records) {
  out_.write(records.data(), static_cast<std::streamsize>(records.size())).flush();
  if (!out_) throw DataError("{}: cannot write: {}", path_.string(), std::strerror(errno));
}

}  // namespace eflops::train
