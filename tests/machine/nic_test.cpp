#include "machine/nic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/files.h"

namespace eflops::machine {
namespace {

namespace fs = std::filesystem;

/// A folder like /sys/class/net: a port of 100 Gbit/s, docker's bridge, the loopback, and a file that is no interface.
class FakeSys : public testing::Test {
 protected:
  FakeSys() {
    write("eth0/flags", "0x1003");
    write("eth0/operstate", "up");
    write("eth0/mtu", "9000");
    write("eth0/speed", "100000");
    fs::create_directories(root() / "eth0/device");
    fs::create_directory_symlink("../../bus/pci/drivers/mlx5_core", root() / "eth0/device/driver");
    write("eth0/statistics/rx_bytes", "5000000000");
    write("eth0/statistics/tx_dropped", "3");
    write("docker0/flags", "0x1003");
    write("docker0/operstate", "down");
    write("docker0/mtu", "1500");
    write("docker0/speed", "-1");
    fs::create_directories(root() / "docker0/bridge");
    write("lo/flags", "0x9");
    write("lo/operstate", "unknown");
    write("lo/mtu", "65536");
    write("bonding_masters", "");
  }

  const fs::path& root() const { return folder_.path(); }
  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((root() / name).parent_path());
    std::ofstream(root() / name) << text << "\n";
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(FakeSys, APortHasSpeedMtuAndDriver) {
  const std::vector<Nic> nics = nics_in(root());
  ASSERT_EQ(nics.size(), 3U);  // docker0, eth0, lo: by name
  const Nic& port = nics[1];
  EXPECT_EQ(port.name, "eth0");
  EXPECT_TRUE(port.is_up);
  EXPECT_FALSE(port.is_virtual);
  EXPECT_EQ(port.speed_mbps, 100'000);
  EXPECT_EQ(port.mtu, 9000);
  EXPECT_EQ(port.driver, "mlx5_core");
}

TEST_F(FakeSys, ABridgeIsVirtualAndItsSpeedUnknown) {
  const Nic bridge = nics_in(root()).at(0);
  EXPECT_EQ(bridge.name, "docker0");
  EXPECT_TRUE(bridge.is_bridge);
  EXPECT_TRUE(bridge.is_virtual);
  EXPECT_FALSE(bridge.is_up);  // no container hangs on it
  EXPECT_EQ(bridge.speed_mbps, 0);
  EXPECT_EQ(bridge.driver, "");
}

TEST_F(FakeSys, TheLoopbackIsUpThoughItsStateIsUnknown) {
  const Nic loopback = nics_in(root()).at(2);
  EXPECT_TRUE(loopback.is_loopback);
  EXPECT_TRUE(loopback.is_up);
  EXPECT_EQ(loopback.speed_mbps, 0);
}

TEST_F(FakeSys, CountersAreReadAndSubtracted) {
  const NicCounters before = read_nic_counters("eth0", root());
  EXPECT_EQ(before.received_bytes, 5'000'000'000);  // beyond 32 bits
  EXPECT_EQ(before.sent_dropped, 3);
  EXPECT_EQ(before.sent_bytes, 0);
  write("eth0/statistics/rx_bytes", "5000001000");
  EXPECT_EQ(read_nic_counters("eth0", root()) - before, NicCounters{.received_bytes = 1000});
}

TEST_F(FakeSys, CountersOfNoInterfaceAreAnError) {
  EXPECT_THROW(read_nic_counters("eth7", root()), DataError);
  EXPECT_THROW(read_nic_counters("", root()), DataError);
}

TEST(Nics, AFolderThatIsAbsentHasNone) { EXPECT_TRUE(nics_in("/nowhere/class/net").empty()); }

TEST(Nics, ThisHostHasALoopbackWithItsAddress) {
  const std::vector<Nic> nics = list_nics();
  const auto loopback = std::ranges::find_if(nics, &Nic::is_loopback);
  if (loopback == nics.end() || !loopback->is_up) GTEST_SKIP() << "no loopback interface is up here";
  EXPECT_THAT(loopback->addresses, testing::Contains("127.0.0.1"));
}

}  // namespace
}  // namespace eflops::machine
