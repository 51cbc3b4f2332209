#include "machine/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace eflops::machine {
namespace {

std::int64_t soft_limit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return Limits::kUnlimited;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// The smallest quota from the process's own group up to the root: each one binds.
double quota_of_group(std::string group) {
  double smallest = 0;
  for (;;) {
    const double quota = parse_cpu_max(first_line("/sys/fs/cgroup" + group + "/cpu.max"));
    if (quota > 0) smallest = smallest > 0 ? std::min(smallest, quota) : quota;
    if (group.empty()) return smallest;
    group.resize(group.find_last_of('/'));
  }
}

double version1_quota() {
  for (const std::string folder : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
    const std::string quota = first_line(folder + "/cpu.cfs_quota_us");
    if (quota.empty() || quota[0] == '-') continue;
    return parse_cpu_max(quota + " " + first_line(folder + "/cpu.cfs_period_us"));
  }
  return 0;
}

}  // namespace

double parse_cpu_max(const std::string& text) {
  std::istringstream stream(text);
  double quota = 0;
  double period = 0;
  if (!(stream >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return quota / period;
}

Limits read_limits() {
  Limits limits;
  limits.locked_memory_bytes = soft_limit(RLIMIT_MEMLOCK);
  limits.open_files = soft_limit(RLIMIT_NOFILE);
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    const std::string group = line.substr(3);
    limits.cpu_quota = quota_of_group(group == "/" ? "" : group);
  }
  if (limits.cpu_quota == 0) limits.cpu_quota = version1_quota();
  return limits;
}

}  // namespace eflops::machine
