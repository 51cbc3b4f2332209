#include <gtest/gtest.h>

#include <algorithm>

#include "checkpoint/safetensors_header.h"
#include "checkpoint_testing.h"

namespace eflops::checkpoint {
namespace {

using testing::data_error;
using testing::with_header;

/// The refusal of these bytes, without the file's name.
std::string refusal(const std::string& bytes) {
  const std::string message = data_error([&] { parse_safetensors(std::as_bytes(std::span(bytes)), "w"); });
  EXPECT_TRUE(message.starts_with("w: ")) << message;
  return message.substr(std::min<std::size_t>(3, message.size()));
}

std::string refusal(const std::string& header, std::size_t data_bytes) {
  return refusal(with_header(header, data_bytes));
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"t":)" + entry(dtype, shape, offsets) + "}";
}

TEST(SafetensorsHeader, AcceptsTensorsInAnyOrderOfNames) {
  const std::string bytes =
      with_header(R"({"b":)" + entry("F32", "1", "4,8") + R"(,"a":)" + entry("U8", "4", "0,4") + "}", 8);
  const SafetensorsContents contents = parse_safetensors(std::as_bytes(std::span(bytes)), "w");
  ASSERT_EQ(contents.tensors.size(), 2U);
  EXPECT_EQ(contents.tensors[0].name, "a");
  EXPECT_EQ(contents.tensors[1].name, "b");
}

TEST(HostileHeader, TooShortForALength) {
  EXPECT_EQ(refusal(""), "0 bytes, a safetensors file has at least 8");
  EXPECT_EQ(refusal("1234567"), "7 bytes, a safetensors file has at least 8");
}

TEST(HostileHeader, LengthAboveTheLimit) {
  std::string bytes(64, '\0');
  const std::uint64_t length = 100'000'001;
  std::memcpy(bytes.data(), &length, 8);
  EXPECT_EQ(refusal(bytes), "header length 100000001 exceeds the 100000000 bytes the format allows");
  std::memset(bytes.data(), 0xFF, 8);
  EXPECT_EQ(refusal(bytes), "header length 18446744073709551615 exceeds the 100000000 bytes the format allows");
}

TEST(HostileHeader, LengthBeyondTheFile) {
  EXPECT_EQ(refusal(with_header("{}", 0).substr(0, 9)), "truncated: header of 2 bytes in a file of 9");
}

TEST(HostileHeader, DoesNotStartWithABrace) {
  EXPECT_EQ(refusal("", 4), "header does not start with '{'");
  EXPECT_EQ(refusal(" {}", 0), "header does not start with '{'");
  EXPECT_EQ(refusal("[]", 0), "header does not start with '{'");
}

// The bad byte is the 4th of the header (offset 3), after the 8 bytes of the length.
TEST(HostileHeader, NotUtf8) { EXPECT_EQ(refusal("{\"a\xFF\":1}", 0), "header is not UTF-8 at byte 11"); }

TEST(HostileHeader, NotJson) {
  EXPECT_TRUE(refusal("{\"t\":", 0).starts_with("header is not valid JSON at byte ")) << refusal("{\"t\":", 0);
  EXPECT_TRUE(refusal("{}}", 0).starts_with("header is not valid JSON at byte ")) << refusal("{}}", 0);
  EXPECT_EQ(refusal(std::string("{}\0{}", 5), 0), "header is not valid JSON at byte 11");
}

TEST(HostileHeader, DuplicateTensor) {
  EXPECT_EQ(refusal(R"({"t":)" + entry("U8", "1", "0,1") + R"(,"t":)" + entry("U8", "1", "1,2") + "}", 2),
            R"(tensor "t" stands twice)");
}

TEST(HostileHeader, DuplicateMetadata) {
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":"1","k":"2"}})", 0), R"(__metadata__ has key "k" twice)");
  EXPECT_EQ(refusal(R"({"__metadata__":{},"__metadata__":{}})", 0), R"(tensor "__metadata__" stands twice)");
}

TEST(HostileHeader, DuplicateOrUnknownKeyOfATensor) {
  const std::string advice = " is not expected here or stands twice (a tensor has dtype, shape and data_offsets)";
  EXPECT_EQ(refusal(R"({"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
            R"(tensor "t": key "dtype" with text)" + advice);
  EXPECT_EQ(refusal(R"({"t":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1),
            R"(tensor "t": key "shape" with an array)" + advice);
  EXPECT_EQ(refusal(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"data_offsets":[0,1]}})", 1),
            R"(tensor "t": key "data_offsets" with an array)" + advice);
  EXPECT_EQ(refusal(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"strides":[1]}})", 1),
            R"(tensor "t": key "strides" with an array)" + advice);
  EXPECT_EQ(refusal(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":null}})", 1),
            R"(tensor "t": key "x" with null)" + advice);
}

TEST(HostileHeader, MissingKeyOfATensor) {
  EXPECT_EQ(refusal(R"({"t":{"shape":[1],"data_offsets":[0,1]}})", 1), R"(tensor "t" has no dtype)");
  EXPECT_EQ(refusal(R"({"t":{"dtype":"U8","data_offsets":[0,1]}})", 1), R"(tensor "t" has no shape)");
  EXPECT_EQ(refusal(R"({"t":{"dtype":"U8","shape":[1]}})", 1), R"(tensor "t" has no two data_offsets)");
  EXPECT_EQ(refusal(one("U8", "1", "0"), 1), R"(tensor "t" has no two data_offsets)");
  EXPECT_EQ(refusal(one("U8", "1", "0,1,2"), 1), R"(tensor "t" has more than two data_offsets)");
}

TEST(HostileHeader, WrongKindOfValue) {
  EXPECT_EQ(refusal(R"({"t":5})", 0), R"(header: "t" is a number, expected an object)");
  EXPECT_EQ(refusal(R"({"t":[]})", 0), R"(header: "t" is an array, expected an object)");
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":1}})", 0), R"(__metadata__: "k" is a number, expected text)");
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":{}}})", 0), R"(__metadata__: "k" is an object, expected text)");
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":true}})", 0), R"(__metadata__: "k" is a truth value, expected text)");
  EXPECT_EQ(refusal(R"({"__metadata__":"k"})", 0), R"(header: "__metadata__" is text, expected an object)");
}

TEST(HostileHeader, NegativeFractionalOrHugeNumbers) {
  EXPECT_EQ(refusal(one("U8", "-1", "0,1"), 1), R"(tensor "t": "shape" -1 is negative)");
  EXPECT_EQ(refusal(one("U8", "1", "-1,0"), 1), R"(tensor "t": "data_offsets" -1 is negative)");
  EXPECT_EQ(refusal(one("U8", "1.0", "0,1"), 1), R"(tensor "t": "shape" "1.0" is not an integer)");
  EXPECT_EQ(refusal(one("U8", "1e0", "0,1"), 1), R"(tensor "t": "shape" "1e0" is not an integer)");
  EXPECT_EQ(refusal(one("U8", "9223372036854775808", "0,1"), 1),
            R"(tensor "t": "shape" 9223372036854775808 is above 2^63 - 1)");
  EXPECT_EQ(refusal(one("U8", "18446744073709551616", "0,1"), 1),
            R"(tensor "t": "shape" "18446744073709551616" is not an integer)");
}

TEST(HostileHeader, UnknownDtype) {
  EXPECT_EQ(
      refusal(one("F33", "1", "0,1"), 1),
      R"(tensor "t" has unknown dtype "F33", known are F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, )"
      "F8_E4M3, F8_E5M2, BOOL");
}

// 2^32 x 2^31 elements do not fit 63 bits; 2^61 floats do, their 2^63 bytes do not.
TEST(HostileHeader, ShapeOverflows) {
  EXPECT_EQ(refusal(one("U8", "4294967296,2147483648", "0,0"), 0),
            R"(tensor "t": shape [4294967296, 2147483648] x U8 overflows)");
  EXPECT_EQ(refusal(one("F32", "2305843009213693952", "0,0"), 0),
            R"(tensor "t": shape [2305843009213693952] x F32 overflows)");
}

TEST(HostileHeader, TooManyDimensions) {
  std::string shape = "1";
  for (int i = 0; i < 32; ++i) shape += ",1";
  EXPECT_EQ(refusal(one("U8", shape, "0,1"), 1), R"(tensor "t" has more than 32 dimensions)");
}

TEST(HostileHeader, SizeAndOffsetsDisagree) {
  EXPECT_EQ(refusal(one("F32", "2", "0,4"), 4), R"(tensor "t": shape [2] x F32 is 8 bytes, data_offsets [0, 4] are 4)");
  EXPECT_EQ(refusal(one("F32", "0", "4,0"), 4), R"(tensor "t" has data_offsets [4, 0])");
}

TEST(HostileHeader, HoleOverlapAndWrongEnd) {
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"a":)" + entry("U8", "4", a) + R"(,"b":)" + entry("U8", "4", b) + "}";
  };
  EXPECT_EQ(refusal(two("0,4", "5,9"), 9), R"(tensor "b" begins at 5, the one before ends at 4: a hole)");
  EXPECT_EQ(refusal(two("1,5", "5,9"), 9), R"(tensor "a" begins at 1, the one before ends at 0: a hole)");
  EXPECT_EQ(refusal(two("0,4", "3,7"), 7), R"(tensor "b" begins at 3, the one before ends at 4: they overlap)");
  EXPECT_EQ(refusal(two("0,4", "0,4"), 4), R"(tensor "b" begins at 0, the one before ends at 4: they overlap)");
  EXPECT_EQ(refusal(two("0,4", "4,8"), 7), "tensors end at byte 8 of the data, the file has 7: truncated");
  EXPECT_EQ(refusal(two("0,4", "4,8"), 9), "tensors end at byte 8 of the data, the file has 9: bytes too many");
  EXPECT_EQ(refusal("{}", 1), "tensors end at byte 0 of the data, the file has 1: bytes too many");
}

TEST(HostileHeader, DeepNestingIsRefusedAtOnce) {
  EXPECT_EQ(refusal(R"({"t":{"dtype":"U8","shape":)" + std::string(1'000'000, '['), 0),
            R"(tensor "t": key "shape" with an array is not expected here or stands twice )"
            "(a tensor has dtype, shape and data_offsets)");
}

TEST(HostileHeader, NamesAreShownOnOneLine) {
  EXPECT_EQ(refusal(R"({"a\nb":5})", 0), R"(header: "a\nb" is a number, expected an object)");
}

// No prefix of a valid file and no single altered header byte may crash or be read past the end (run under ASan).
TEST(HostileHeader, EveryTruncationIsRefusedAndEveryAlteredByteSurvived) {
  const std::string whole = with_header(R"({"a":)" + entry("U8", "4", "0,4") + R"(,"__metadata__":{"k":"v"}})", 4);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char replacement : {'\0', '\xFF', '{', '"', '9', ' '}) {
      std::string altered = whole;
      altered[at] = replacement;
      try {
        parse_safetensors(std::as_bytes(std::span(altered)), "w");
      } catch (const DataError&) {
        continue;
      }
    }
}

}  // namespace
}  // namespace eflops::checkpoint
