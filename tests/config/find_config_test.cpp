#include "config/find_config.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "base/files.h"

namespace eflops::config {
namespace {

namespace fs = std::filesystem;

/// A fresh current folder with `here.yaml` and `configs/mini.yaml`, and another folder on EFLOPS_CONFIG_PATH.
class FindConfig : public ::testing::Test {
 protected:
  FindConfig() : former_(fs::current_path()) {
    fs::create_directories(folder_.path() / "configs" / "smoke");
    fs::create_directories(other_.path());
    write_file_atomically(folder_.path() / "here.yaml", "a: 1\n");
    write_file_atomically(folder_.path() / "configs" / "mini.yaml", "a: 2\n");
    write_file_atomically(folder_.path() / "configs" / "smoke" / "tiny.yaml", "a: 3\n");
    write_file_atomically(other_.path() / "far.yaml", "a: 4\n");
    write_file_atomically(other_.path() / "here.yaml", "a: 5\n");
    fs::current_path(folder_.path());
    ::setenv("EFLOPS_CONFIG_PATH", ("/nowhere:" + other_.path().string()).c_str(), 1);
  }
  ~FindConfig() override {
    ::unsetenv("EFLOPS_CONFIG_PATH");
    fs::current_path(former_);
  }

  TemporaryFolder folder_;
  TemporaryFolder other_;
  fs::path former_;
};

TEST_F(FindConfig, LooksInTheCurrentFolderFirst) {
  EXPECT_EQ(find_config("here"), "here.yaml");
  EXPECT_EQ(find_config("here.yaml"), "here.yaml");
}

TEST_F(FindConfig, LooksInConfigsAndInTheConfigPath) {
  EXPECT_EQ(find_config("mini"), "configs/mini.yaml");
  EXPECT_EQ(find_config("smoke/tiny"), "configs/smoke/tiny.yaml");
  EXPECT_EQ(find_config("far"), other_.path() / "far.yaml");
}

TEST_F(FindConfig, TakesAnAbsolutePathAsItIs) {
  EXPECT_EQ(find_config((other_.path() / "far").string()), other_.path() / "far.yaml");
  EXPECT_THROW(find_config((other_.path() / "mini").string()), ConfigError);
}

TEST_F(FindConfig, NamesTheSearchedFoldersWhenThereIsNoSuchFile) {
  try {
    find_config("absent");
    FAIL();
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'absent'"), std::string::npos);
    EXPECT_NE(message.find("configs, /nowhere, " + other_.path().string()), std::string::npos);
  }
}

TEST_F(FindConfig, AFolderIsNoExperimentFile) { EXPECT_THROW(find_config("smoke"), ConfigError); }

}  // namespace
}  // namespace eflops::config
