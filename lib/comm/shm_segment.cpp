#include "comm/shm_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace eflops::comm {
namespace {

constexpr const char* kFolder = "/dev/shm";
constexpr const char* kPrefix = "eflops";

/// Clock ticks from boot to the start of a process; with the number of the process it is unique until the next boot.
/// Empty if there is no such process.
std::string start_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  if (!std::getline(file, text)) return "";
  // Field 22; the second one is a name in parentheses that may hold blanks.
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 2, text.size())));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field;
}

/// The process name space: numbers of processes mean nothing outside it.
std::string name_space() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? std::to_string(status.st_ino) : "0";
}

std::string new_name() {
  static std::atomic<std::uint64_t> count{0};
  const std::string process = std::to_string(::getpid());
  return fmt::format("/{}-{}-{}-{}-{}", kPrefix, name_space(), process, start_of(process), count++);
}

std::byte* mapped(int descriptor, std::int64_t bytes, const std::string& name) {
  void* const memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_POPULATE, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (memory == MAP_FAILED) {
    throw CommError("{}{}: cannot map {} bytes: {}", kFolder, name, bytes, std::strerror(reason));
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

ShmSegment ShmSegment::create(std::int64_t bytes) {
  EFLOPS_CHECK(bytes > 0, "a segment of {} bytes", bytes);
  ShmSegment segment;
  segment.name_ = new_name();
  const int descriptor = ::shm_open(segment.name_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) throw CommError("{}{}: cannot make it: {}", kFolder, segment.name_, std::strerror(errno));
  segment.owner_ = true;
  const std::int64_t free = shm_free_bytes();
  // Without the reservation a full file system would kill the process at its first write (known_faults C34).
  const int error = ::posix_fallocate(descriptor, 0, bytes);
  if (error != 0) {
    ::close(descriptor);
    throw CommError("{}: cannot reserve {} bytes of shared memory, {} bytes are free: {}", kFolder, bytes, free,
                    std::strerror(error));
  }
  segment.data_ = mapped(descriptor, bytes, segment.name_);
  segment.size_ = bytes;
  return segment;
}

ShmSegment ShmSegment::open(const std::string& name, std::int64_t bytes) {
  ShmSegment segment;
  segment.name_ = name;
  const int descriptor = ::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (descriptor < 0) throw CommError("{}{}: cannot open it: {}", kFolder, name, std::strerror(errno));
  segment.data_ = mapped(descriptor, bytes, name);
  segment.size_ = bytes;
  return segment;
}

void ShmSegment::release() noexcept {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(size_));
  if (owner_) ::shm_unlink(name_.c_str());
  data_ = nullptr;
  owner_ = false;
}

ShmSegment::~ShmSegment() { release(); }

ShmSegment::ShmSegment(ShmSegment&& other) noexcept { *this = std::move(other); }

ShmSegment& ShmSegment::operator=(ShmSegment&& other) noexcept {
  if (this == &other) return *this;
  release();
  name_ = std::move(other.name_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = other.size_;
  owner_ = std::exchange(other.owner_, false);
  return *this;
}

std::int64_t shm_free_bytes() {
  struct statvfs status {};
  if (::statvfs(kFolder, &status) != 0) return 0;
  return static_cast<std::int64_t>(status.f_bavail * status.f_frsize);
}

int remove_dead_segments() {
  int removed = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, error)) {
    std::string name = entry.path().filename().string();
    std::istringstream parts(name);
    std::string prefix, space, process, start, count;
    std::getline(parts, prefix, '-');
    std::getline(parts, space, '-');
    std::getline(parts, process, '-');
    std::getline(parts, start, '-');
    std::getline(parts, count, '-');
    if (prefix != kPrefix || count.empty() || space != name_space()) continue;
    if (start_of(process) == start) continue;
    if (::shm_unlink(("/" + name).c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace eflops::comm
