#include "archive/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace eflops::archive {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

class LineReaderTest : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes, const std::string& name = "file") {
    const auto file = folder_.path() / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

  static std::vector<std::string> lines(const std::string& file) {
    LineReader reader(file);
    std::vector<std::string> all;
    for (std::string_view line; reader.next(line);) {
      all.emplace_back(line);
      EXPECT_EQ(reader.line_number(), static_cast<std::int64_t>(all.size()));
    }
    return all;
  }

  static std::string error(const std::string& file) {
    try {
      lines(file);
    } catch (const DataError& failure) {
      return failure.what();
    }
    return "no DataError";
  }

  TemporaryFolder folder_;
};

TEST_F(LineReaderTest, EndsOfLinesAndOfTheFile) {
  EXPECT_THAT(lines(write("")), ElementsAre());
  EXPECT_THAT(lines(write("\n")), ElementsAre(""));
  EXPECT_THAT(lines(write("a")), ElementsAre("a"));
  EXPECT_THAT(lines(write("a\n")), ElementsAre("a"));
  EXPECT_THAT(lines(write("a\n\nb\r\n c")), ElementsAre("a", "", "b\r", " c"));
}

TEST_F(LineReaderTest, CompressionIsToldByTheFirstBytesNotByTheName) {
  const std::string text = "one\ntwo\n";
  EXPECT_THAT(lines(write(gzip(text), "a.txt")), ElementsAre("one", "two"));
  EXPECT_THAT(lines(write(zstd(text), "b.gz")), ElementsAre("one", "two"));
  EXPECT_THAT(lines(write(text, "c.zst")), ElementsAre("one", "two"));
  EXPECT_EQ(ByteStream(write(gzip(text))).compression(), Compression::Gzip);
  EXPECT_EQ(ByteStream(write(zstd(text))).compression(), Compression::Zstd);
  EXPECT_EQ(ByteStream(write(text)).compression(), Compression::None);
}

TEST_F(LineReaderTest, GzipMembersAndZstdFramesFollowEachOther) {
  EXPECT_THAT(lines(write(gzip("a\nb") + gzip("") + gzip("c\nd\n"))), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(lines(write(zstd("a\nb") + zstd("") + zstd("c\nd\n"))), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(lines(write(gzip("a\n") + std::string(7, '\0'))), ElementsAre("a"));  // padding, as tape drives leave it
}

TEST_F(LineReaderTest, LinesLongerThanEveryBufferComeBackWhole) {
  const std::string one(1'000'000, 'x');
  const std::string two(300'001, 'y');
  const std::string text = one + "\n" + two + "\nz";
  for (const std::string& bytes : {text, gzip(text), zstd(text)})
    EXPECT_THAT(lines(write(bytes)), ElementsAre(one, two, "z"));
}

TEST_F(LineReaderTest, ManyLinesOfAllLengthsComeBackInOrder) {
  std::string text;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 2000; ++i) {
    expected.emplace_back(i * 7 % 1013, static_cast<char>('a' + i % 26));
    text += expected.back() + "\n";
  }
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) EXPECT_EQ(lines(write(bytes)), expected);
}

TEST_F(LineReaderTest, EveryTruncationOfCompressedTextIsAnError) {
  for (const std::string& whole : {gzip("some text\nand more of it\n"), zstd("some text\nand more of it\n")}) {
    for (std::size_t size = 6; size < whole.size(); ++size)
      EXPECT_THAT(error(write(whole.substr(0, size))), AllOf(HasSubstr("file: truncated"), HasSubstr("at byte")))
          << size;
  }
}

TEST_F(LineReaderTest, DamagedCompressedTextIsAnErrorWithItsPlace) {
  std::string bytes = gzip("some text\nand more of it\n");
  bytes[bytes.size() - 6] ^= 1;  // in the CRC-32
  EXPECT_THAT(error(write(bytes)), AllOf(HasSubstr("damaged gzip near byte"), HasSubstr("incorrect data check")));
  bytes = zstd("some text\nand more of it\n");
  bytes.back() ^= 1;  // in the XXH64
  EXPECT_THAT(error(write(bytes)), HasSubstr("damaged zstd near byte"));
  EXPECT_THAT(error(write(gzip("a\n") + "tail")), HasSubstr("bytes that are not gzip follow"));
  EXPECT_THAT(error(write(zstd("a\n") + "tail tail")), HasSubstr("damaged zstd"));
}

TEST_F(LineReaderTest, OtherCompressionsMissingFilesAndFoldersAreErrors) {
  EXPECT_THAT(error(write("BZh91AY")), HasSubstr("bzip2 is not read here"));
  EXPECT_THAT(error(write("PK\x03\x04xx")), HasSubstr("zip is not read here"));
  EXPECT_THAT(error((folder_.path() / "none").string()), HasSubstr("none: cannot open: No such file"));
  EXPECT_THAT(error(folder_.path().string()), HasSubstr("is a folder"));
}

TEST_F(LineReaderTest, ALineBeyondTheLimitIsAnErrorWithItsNumber) {
  LineReader reader(write("ok\n" + std::string(11, 'x') + "\n"), 10);
  std::string_view line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_THROW(reader.next(line), DataError);
}

TEST_F(LineReaderTest, OffsetsReachTheSizeOfTheFile) {
  const std::string file = write(gzip("one\ntwo\n"));
  LineReader reader(file);
  for (std::string_view line; reader.next(line);) continue;
  EXPECT_EQ(reader.stream().file_size(), std::filesystem::file_size(file));
  EXPECT_EQ(reader.stream().file_offset(), std::filesystem::file_size(file));
}

TEST_F(LineReaderTest, StandardInputIsReadThroughAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string bytes = gzip("from\na pipe\n");
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  close(ends[1]);
  const int saved = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  EXPECT_THAT(lines("-"), ElementsAre("from", "a pipe"));
  EXPECT_EQ(ByteStream("-").name(), "standard input");
  dup2(saved, STDIN_FILENO);
  close(saved);
}

}  // namespace
}  // namespace eflops::archive
