#include "checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "checkpoint_testing.h"

namespace eflops::checkpoint {
namespace {

using testing::data_error;
using testing::with_header;
using testing::write_raw;
using namespace std::string_literals;

template <typename T>
TensorView view(std::string name, std::string dtype, std::vector<std::int64_t> shape, const T& values) {
  return {.name = std::move(name),
          .dtype = std::move(dtype),
          .shape = std::move(shape),
          .bytes = std::as_bytes(std::span(values))};
}

// What Python's safetensors 0.8.0 writes for these three tensors: the header is 198 bytes of text and 2 of padding.
TEST(Safetensors, WritesTheBytesOfTheReferenceImplementation) {
  const std::array<float, 2> b = {1.0F, -2.5F};
  const std::array<std::int64_t, 2> a = {7, -1};
  const std::array<std::uint16_t, 1> h = {0x3800};
  const std::array tensors = {view("h", "F16", {}, h), view("b", "F32", {2}, b), view("a", "I64", {2, 1}, a)};
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "x.safetensors", tensors, {{"format", "pt"}});
  const std::string expected =
      "\xC8\0\0\0\0\0\0\0"s
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I64","shape":[2,1],"data_offsets":[0,16]},)"
      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[16,24]},"h":{"dtype":"F16","shape":[],"data_offsets":[24,26]}}   )"
      "\x07\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\x80?\0\0 \xC0\0\x38"s;
  EXPECT_EQ(read_file(folder.path() / "x.safetensors"), expected);
}

TEST(Safetensors, ReadsBackWhatWasWritten) {
  const std::array<float, 6> weight = {1, 2, 3, 4, 5, 6};
  const std::array<std::uint8_t, 3> flags = {1, 0, 1};
  const std::array<float, 0> nothing = {};
  const std::array tensors = {float_view("layer/\"weight\"\n\xC3\xA9", {2, 3}, weight),
                              view("flags", "BOOL", {3}, flags), float_view("none", {0, 5}, nothing)};
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.safetensors";
  write_safetensors(path, tensors, {{"k", "v\n"}, {"empty", ""}});

  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(), (Metadata{{"k", "v\n"}, {"empty", ""}}));
  const WeightFiles weights(path);
  ASSERT_EQ(weights.tensors().size(), 3U);
  for (const TensorView& written : tensors) {
    const TensorView& read = weights.at(written.name);
    EXPECT_EQ(read.dtype, written.dtype);
    EXPECT_EQ(read.shape, written.shape);
    EXPECT_TRUE(std::equal(read.bytes.begin(), read.bytes.end(), written.bytes.begin(), written.bytes.end()));
  }
  EXPECT_EQ(weights.find("weight"), nullptr);
  EXPECT_EQ(data_error([&] { weights.at("weight"); }), path.string() + R"(: no tensor "weight")");
}

TEST(Safetensors, EqualContentGivesEqualBytesInAnyOrder) {
  const std::array<float, 1> one = {1};
  const std::array<float, 2> two = {2, 3};
  const std::array forward = {float_view("a", {1}, one), float_view("b", {2}, two)};
  const std::array backward = {forward[1], forward[0]};
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "1", forward);
  write_safetensors(folder.path() / "2", backward);
  EXPECT_EQ(read_file(folder.path() / "1"), read_file(folder.path() / "2"));
}

TEST(Safetensors, AFileWithoutTensorsIsAFile) {
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "x", {});
  EXPECT_EQ(read_file(folder.path() / "x"), with_header("{}      ", 0));
  EXPECT_TRUE(SafetensorsFile(folder.path() / "x").tensors().empty());
}

TEST(Safetensors, RefusesToWriteAMalformedTensor) {
  const TemporaryFolder folder;
  const std::array<float, 2> values = {1, 2};
  const auto write = [&](const TensorView& tensor) { write_safetensors(folder.path() / "x", std::array{tensor}); };
  EXPECT_THROW(write(view("t", "F32", {3}, values)), InternalError);
  EXPECT_THROW(write(view("t", "F31", {2}, values)), InternalError);
  EXPECT_THROW(write(view("__metadata__", "F32", {2}, values)), InternalError);
  const std::array twice = {float_view("t", {2}, values), float_view("t", {2}, values)};
  EXPECT_THROW(write_safetensors(folder.path() / "x", twice), InternalError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CopyAsFloat, ConvertsEveryFloatType) {
  // bf16 is the upper half of a float: 0x3FC0 = 1.5, 0xC020 = -2.5.
  const std::array<std::uint16_t, 2> brain = {0x3FC0, 0xC020};
  const std::array<double, 2> wide = {0.1, -4.0};
  const std::array<float, 2> plain = {3.0F, 5.0F};
  std::array<float, 2> out{};
  copy_as_float(view("t", "BF16", {2}, brain), out);
  EXPECT_EQ(out, (std::array{1.5F, -2.5F}));
  copy_as_float(view("t", "F64", {2}, wide), out);
  EXPECT_EQ(out, (std::array{0.1F, -4.0F}));
  copy_as_float(view("t", "F32", {1, 2}, plain), out);
  EXPECT_EQ(out, plain);
}

// IEEE binary16: 1 + 2^-10, largest 65504, smallest subnormal 2^-24, largest subnormal 1023 * 2^-24, infinities, zeros.
TEST(CopyAsFloat, ConvertsHalvesExactly) {
  const std::array<std::uint16_t, 9> halves = {0x3C01, 0x7BFF, 0x0001, 0x03FF, 0x0400, 0x7C00, 0xFC00, 0x0000, 0x8000};
  std::array<float, 9> out{};
  copy_as_float(view("t", "F16", {9}, halves), out);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(out, (std::array{1.0009765625F, 65504.0F, 0x1p-24F, 1023 * 0x1p-24F, 0x1p-14F, infinity, -infinity, 0.0F,
                             -0.0F}));
  EXPECT_TRUE(std::signbit(out[8]));
  const std::array<std::uint16_t, 1> nan = {0x7E00};
  copy_as_float(view("t", "F16", {1}, nan), std::span(out).first(1));
  EXPECT_TRUE(std::isnan(out[0]));
}

TEST(CopyAsFloat, RefusesOtherTypesAndCounts) {
  const std::array<std::int32_t, 2> values = {1, 2};
  std::array<float, 2> out{};
  EXPECT_EQ(data_error([&] { copy_as_float(view("t", "I32", {2}, values), out); }),
            "tensor t has dtype I32, expected F32, BF16, F16 or F64");
  EXPECT_EQ(data_error([&] { copy_as_float(view("t", "F32", {2}, values), std::span(out).first(1)); }),
            "tensor t has shape [2] = 2 elements, expected 1");
}

}  // namespace
}  // namespace eflops::checkpoint
