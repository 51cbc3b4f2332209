#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/hash.h"

namespace eflops {
namespace {

namespace fs = std::filesystem;

int entries(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.bin";
  {
    AtomicFile out(file);
    out.write("head....");
    out.write(std::string(3 << 20, 'a'));
    EXPECT_FALSE(fs::exists(file));
    out.write_at(0, std::as_bytes(std::span("HEAD", 4)));
    out.commit();
  }
  const std::string read = read_file(file);
  EXPECT_EQ(read.size(), 8U + (3 << 20));
  EXPECT_EQ(read.substr(0, 9), "HEAD....a");
  EXPECT_EQ(entries(folder.path()), 1);
}

TEST(AtomicFile, LeavesNothingWhenAbandoned) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "x", "old");
  {
    AtomicFile out(folder.path() / "x");
    out.write("new");
  }
  EXPECT_EQ(read_file(folder.path() / "x"), "old");
  EXPECT_EQ(entries(folder.path()), 1);
}

// A full disk, stood in for by a file-size limit: write fails with EFBIG where a full disk gives ENOSPC.
TEST(AtomicFile, AFailedWriteIsADataErrorAndTheOldFileStays) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x";
  write_file_atomically(file, "old");
  rlimit former{};
  getrlimit(RLIMIT_FSIZE, &former);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, former.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_file_atomically(file, std::string(1 << 16, 'b')), DataError);
  setrlimit(RLIMIT_FSIZE, &former);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(file), "old");
  EXPECT_EQ(entries(folder.path()), 1);
}

TEST(Files, MissingOnesAreNamed) {
  try {
    read_file("/nonexistent/file");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("/nonexistent/file: cannot open: No such file"));
  }
  EXPECT_THROW(MappedFile("/nonexistent/file"), DataError);
  EXPECT_THROW(hash_file("/nonexistent/file"), DataError);
}

TEST(Files, MapHashAndAppendSeeTheSameBytes) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "lines";
  append_line(file, "one");
  append_line(file, "two");
  EXPECT_EQ(read_file(file), "one\ntwo\n");
  const MappedFile map(file);
  EXPECT_EQ(map.bytes().size(), 8U);
  EXPECT_EQ(hash64(map.bytes()), hash_file(file));
  EXPECT_EQ(hash64("one\ntwo\n"), hash_file(file));
  std::ofstream(folder.path() / "empty").flush();
  EXPECT_EQ(MappedFile(folder.path() / "empty").bytes().size(), 0U);
}

}  // namespace
}  // namespace eflops
