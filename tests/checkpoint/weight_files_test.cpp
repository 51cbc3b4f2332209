#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "checkpoint/safetensors.h"
#include "checkpoint_testing.h"

namespace eflops::checkpoint {
namespace {

using testing::data_error;
using testing::write_raw;

constexpr std::array<float, 1> kOne = {1.0F};
constexpr std::array<float, 1> kTwo = {2.0F};
constexpr const char* kIndex = "model.safetensors.index.json";

/// Two shards with tensors a and b, and an index with this weight map.
void write_sharded(const std::filesystem::path& folder, const std::string& weight_map) {
  write_safetensors(folder / "s1.safetensors", std::array{float_view("a", {1}, kOne)});
  write_safetensors(folder / "s2.safetensors", std::array{float_view("b", {1}, kTwo)});
  write_raw(folder / kIndex, R"({"metadata": {"total_size": 8}, "weight_map": )" + weight_map + "}");
}

std::string refusal(const std::string& weight_map) {
  const TemporaryFolder folder;
  write_sharded(folder.path(), weight_map);
  const std::string message = data_error([&] { WeightFiles(folder.path()); });
  const std::string prefix = (folder.path() / "").string();
  EXPECT_TRUE(message.starts_with(prefix)) << message;
  return message.substr(std::min(prefix.size(), message.size()));
}

TEST(WeightFiles, ReadsShards) {
  const TemporaryFolder folder;
  write_sharded(folder.path(), R"({"a": "s1.safetensors", "b": "s2.safetensors"})");
  const WeightFiles weights(folder.path());
  std::array<float, 1> value{};
  copy_as_float(weights.at("b"), value);
  EXPECT_EQ(value, kTwo);
  EXPECT_EQ(weights.tensors().size(), 2U);
}

TEST(WeightFiles, PrefersTheWholeFile) {
  const TemporaryFolder folder;
  write_sharded(folder.path(), R"({"a": "s1.safetensors", "b": "s2.safetensors"})");
  write_safetensors(folder.path() / "model.safetensors", std::array{float_view("c", {1}, kOne)});
  EXPECT_EQ(WeightFiles(folder.path()).tensors().size(), 1U);
}

TEST(WeightFiles, SaysWhatIsNotThere) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  EXPECT_EQ(data_error([&] { WeightFiles(folder.path()); }),
            path + ": neither model.safetensors nor model.safetensors.index.json");
  write_raw(folder.path() / "pytorch_model.bin", "x");
  EXPECT_EQ(data_error([&] { WeightFiles(folder.path()); }),
            path +
                ": neither model.safetensors nor model.safetensors.index.json (pytorch_model.bin is there: convert it "
                "first)");
  EXPECT_EQ(data_error([&] { WeightFiles(folder.path() / "no"); }), path + "/no: No such file or directory");
}

TEST(WeightFiles, RefusesAnIndexThatDoesNotAgree) {
  EXPECT_EQ(refusal(R"({"a": "s1.safetensors", "b": "s1.safetensors"})"),
            std::string(kIndex) + ": 2 tensors are listed in s1.safetensors, which has 1");
  EXPECT_EQ(refusal(R"({"c": "s1.safetensors"})"),
            std::string(kIndex) + R"(: tensor "a" is in s1.safetensors, the index says nothing of it)");
  EXPECT_EQ(refusal(R"({"a": "s2.safetensors", "b": "s1.safetensors"})"),
            std::string(kIndex) + R"(: tensor "a" is in s1.safetensors, the index says s2.safetensors)");
  EXPECT_EQ(refusal(R"({"a": "s3.safetensors"})"), "s3.safetensors: cannot open: No such file or directory");
}

TEST(WeightFiles, RefusesAnIndexThatLeavesTheFolder) {
  EXPECT_EQ(
      refusal(R"({"a": "../s1.safetensors"})"),
      std::string(kIndex) + R"(: weight_map: "a" is "../s1.safetensors", expected a file name in the same folder)");
  EXPECT_EQ(refusal(R"({"a": 5})"),
            std::string(kIndex) + R"(: weight_map: "a" is 5, expected a file name in the same folder)");
}

TEST(WeightFiles, RefusesAnIndexThatIsNone) {
  EXPECT_EQ(refusal(R"({"a": "s1.safetensors", "a": "s1.safetensors"})"),
            std::string(kIndex) + R"(: key "a" stands twice in one object)");
  EXPECT_EQ(refusal("[]"), std::string(kIndex) + R"(: no "weight_map" object with tensor names and file names)");
  EXPECT_EQ(refusal("{}"), std::string(kIndex) + R"(: no "weight_map" object with tensor names and file names)");
}

TEST(WeightFiles, RefusesOneTensorInTwoShards) {
  const TemporaryFolder folder;
  write_sharded(folder.path(), R"({"a": "s1.safetensors", "b": "s2.safetensors"})");
  write_safetensors(folder.path() / "s2.safetensors", std::array{float_view("a", {1}, kOne)});
  EXPECT_EQ(data_error([&] { WeightFiles(folder.path()); }),
            (folder.path() / "s2.safetensors").string() + R"(: tensor "a" is also in another shard)");
}

}  // namespace
}  // namespace eflops::checkpoint
