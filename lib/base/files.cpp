#include "base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace eflops {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view doing) {
  throw DataError("{}: {}: {}", file.string(), doing, std::strerror(errno));
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

// pwrite until all is written; the kernel may take less than it is offered.
void write_fully(int descriptor, const char* data, std::size_t size, std::uint64_t offset,
                 const std::filesystem::path& file) {
  while (size > 0) {
    const ssize_t wrote = ::pwrite(descriptor, data, size, static_cast<off_t>(offset));
    if (wrote < 0) {
      if (errno == EINTR) continue;
      fail(file, "cannot write");
    }
    data += wrote;
    size -= static_cast<std::size_t>(wrote);
    offset += static_cast<std::uint64_t>(wrote);
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(file, "cannot open");
  std::string all;
  std::string block(kBufferBytes, '\0');
  for (;;) {
    const ssize_t got = ::read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int reason = errno;
      ::close(descriptor);
      errno = reason;
      fail(file, "cannot read");
    }
    if (got == 0) break;
    all.append(block.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return all;
}

void write_file_atomically(const std::filesystem::path& file, std::string_view bytes) {
  AtomicFile out(file);
  out.write(bytes);
  out.commit();
}

AtomicFile::AtomicFile(const std::filesystem::path& file) : file_(file) {
  static std::atomic<unsigned> counter{0};
  temporary_ = folder_of(file) / fmt::format(".{}.{}-{}.tmp", file.filename().string(), ::getpid(), counter++);
  descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail(file_, "cannot create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::write(std::string_view text) {
  if (text.size() >= kBufferBytes) {  // as it is, without a copy
    flush();
    write_fully(descriptor_, text.data(), text.size(), size_, file_);
    size_ += text.size();
    return;
  }
  buffer_.append(text);
  size_ += text.size();
  if (buffer_.size() >= kBufferBytes) flush();
}

void AtomicFile::flush() {
  write_fully(descriptor_, buffer_.data(), buffer_.size(), size_ - buffer_.size(), file_);
  buffer_.clear();
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  EFLOPS_CHECK(offset + bytes.size() <= size_, "write_at past the end of {}", file_.string());
  flush();
  write_fully(descriptor_, reinterpret_cast<const char*>(bytes.data()), bytes.size(), offset, file_);
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail(file_, "cannot sync");
  if (::close(std::exchange(descriptor_, -1)) != 0 || ::rename(temporary_.c_str(), file_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    errno = reason;
    fail(file_, "cannot finish");
  }
  sync_folder(folder_of(file_));
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail(folder, "cannot open");
  const int status = ::fsync(descriptor);
  ::close(descriptor);
  // Some file systems cannot sync a folder and say so with EINVAL; nothing more can be done there.
  if (status != 0 && errno != EINVAL) fail(folder, "cannot sync");
}

void append_line(const std::filesystem::path& file, std::string_view line) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) fail(file, "cannot open");
  const std::string whole = std::string(line) + '\n';
  const ssize_t wrote = ::write(descriptor, whole.data(), whole.size());
  const int reason = errno;
  ::close(descriptor);
  if (wrote == static_cast<ssize_t>(whole.size())) return;
  if (wrote >= 0)
    throw DataError("{}: only {} of {} bytes were written: disk full?", file.string(), wrote, whole.size());
  errno = reason;
  fail(file, "cannot append");
}

MappedFile::MappedFile(const std::filesystem::path& file) : path_(file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(file, "cannot open");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    throw DataError("{}: not a regular file", file.string());
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) {
      const int reason = errno;
      ::close(descriptor);
      errno = reason;
      fail(file, "cannot map");
    }
    data_ = static_cast<const std::byte*>(mapped);
  }
  ::close(descriptor);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "eflops-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail(pattern, "cannot create");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace eflops
