#include "train/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/files.h"

namespace eflops::train {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

double one() { return 1; }

std::vector<std::string> names(const fs::path& folder) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    found.push_back(entry.path().filename().string());
  std::ranges::sort(found);
  return found;
}

// Each record is length (8 bytes), masked CRC, message, masked CRC; the CRCs were computed bit by bit from RFC 3720's
// polynomial. 1.0 is 3FF0000000000000 as double, 0.5 is 3F000000 as float; step 300 = 2 * 128 + 44 is AC 02 as varint.
TEST(EventFile, HasTheBytesOfTheFormat) {
  const TemporaryFolder temporary;
  EventFile events(temporary.path(), 299, one);
  const std::string time = "\x09\0\0\0\0\0\0\xF0\x3F"s;
  const std::string step = "\x10\xAC\x02"s;
  // 9 bytes of time and 2 + 13 of version.
  const std::string version =
      "\x18\0\0\0\0\0\0\0\xA3\x7F\x4B\x22"s + time + "\x1A\x0D" + "brain.Event:2\x86\xBF\x57\x7A";
  // 9 of time, 3 of step, 4 of session log: START at the first step to come.
  const std::string start =
      "\x10\0\0\0\0\0\0\0\x95\xFB\xFE\x18"s + time + step + "\x3A\x02\x08\x01" + "\x56\x0B\x5D\xA5";
  EXPECT_EQ(read_file(events.path()), version + start);

  events.append(300, "train",
                std::vector<NamedValue>{{"loss", 0.5}, {"nan", std::numeric_limits<double>::quiet_NaN()}});
  // Values of 2 + 10 + 5 and 2 + 9 + 5 bytes, in all 19 + 18 = 0x25; with time, step and 2 of summary 51 = 0x33.
  const std::string loss = "\x0A\x11\x0A\x0A"s + "train/loss" + "\x15\0\0\0\x3F"s;
  const std::string nan = "\x0A\x10\x0A\x09"s + "train/nan" + "\x15\0\0\xC0\x7F"s;
  const std::string scalars = "\x33\0\0\0\0\0\0\0\x0C\xA7\x20\x56"s + time + step + "\x2A\x25" + loss + nan;
  EXPECT_EQ(read_file(events.path()), version + start + scalars + "\xE5\x11\xE6\xF2");
}

// Readers take files in the order of their names.
TEST(EventFile, ALaterFileHasALaterNameWhateverTheClockSays) {
  const TemporaryFolder temporary;
  write_file_atomically(temporary.path() / "events.out.tfevents.0000000041.elsewhere.7", "");
  write_file_atomically(temporary.path() / "other.9999999999", "");
  const EventFile first(temporary.path(), 0, one);
  const EventFile second(temporary.path(), 3, one);
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const std::string end = fmt::format(".{}.{}", host.data(), ::getpid());
  EXPECT_EQ(
      names(temporary.path()),
      (std::vector<std::string>{"events.out.tfevents.0000000041.elsewhere.7", "events.out.tfevents.0000000042" + end,
                                "events.out.tfevents.0000000043" + end, "other.9999999999"}));
}

TEST(EventFile, AFolderThatCannotBeIsADataError) {
  const TemporaryFolder temporary;
  write_file_atomically(temporary.path() / "file", "");
  EXPECT_THROW(EventFile(temporary.path() / "file", 0), DataError);
}

}  // namespace
}  // namespace eflops::train
