#include "machine/machine.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace eflops::machine {
namespace {

// Those that change what our kernels and oneDNN do.
constexpr std::string_view kIsaOfInterest[] = {"sse4_2",      "avx",      "f16c",     "fma",         "avx2",
                                               "avx512f",     "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16",
                                               "avx512_fp16", "amx_bf16", "amx_int8", "amx_tile"};

// "model name	: AMD EPYC" → "AMD EPYC".
std::string value_of(const std::string& line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return "";
  const std::size_t start = line.find_first_not_of(" \t", colon + 1);
  return start == std::string::npos ? "" : line.substr(start);
}

void read_cpu(Machine& machine) {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line) && !line.empty();) {
    if (line.starts_with("model name")) machine.cpu = value_of(line);
    if (!line.starts_with("flags")) continue;
    std::istringstream words(value_of(line));
    const std::vector<std::string> flags{std::istream_iterator<std::string>(words), {}};
    for (const std::string_view name : kIsaOfInterest)
      if (std::ranges::find(flags, name) != flags.end()) machine.isa.emplace_back(name);
  }
}

void read_memory(Machine& machine) {
  std::ifstream stream("/proc/meminfo");
  for (std::string line; std::getline(stream, line);) {
    const auto kibibytes = [&] { return std::strtoull(value_of(line).c_str(), nullptr, 10) * 1024; };
    if (line.starts_with("MemTotal:")) machine.memory_bytes = kibibytes();
    if (line.starts_with("MemAvailable:")) machine.memory_available_bytes = kibibytes();
  }
}

}  // namespace

bool Machine::has_native_bf16() const {
  return std::ranges::find(isa, "avx512_bf16") != isa.end() || std::ranges::find(isa, "amx_bf16") != isa.end();
}

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

std::uint64_t available_memory_bytes() {
  Machine machine;
  read_memory(machine);
  return machine.memory_available_bytes;
}

std::string network_name() {
  std::error_code absent;
  const std::filesystem::path space = std::filesystem::read_symlink("/proc/self/ns/net", absent);
  return absent ? host_name() : host_name() + " " + space.string();
}

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "?";
}

Machine inspect() {
  Machine machine;
  machine.host = host_name();
  utsname names{};
  if (::uname(&names) == 0) machine.kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
  machine.topology = read_topology();
  read_cpu(machine);
  read_memory(machine);
  std::ifstream governor("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::getline(governor, machine.governor);
  machine.load = load_average();
  machine.limits = read_limits();
  return machine;
}

}  // namespace eflops::machine
