#include "archive/raw_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace eflops::archive {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

std::string reason() { return std::strerror(errno); }

}  // namespace

RawFile::RawFile(const std::string& name) : name_(name == "-" ? "standard input" : name), buffer_(kBuffer, '\0') {
  descriptor_ = name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw DataError("{}: cannot open: {}", name_, reason());
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      ::close(descriptor_);
      throw DataError("{}: is a folder, not a file", name_);
    }
    if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
  }
}

RawFile::~RawFile() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

std::span<const char> RawFile::peek(std::size_t wanted) {
  EFLOPS_CHECK(wanted <= kMostWanted, "{} bytes wanted", wanted);
  while (end_ - begin_ < wanted) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    const ssize_t got = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError("{}: cannot read at byte {}: {}", name_, offset_ + end_, reason());
    if (got == 0) break;
    end_ += static_cast<std::size_t>(got);
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

void RawFile::consume(std::size_t bytes) {
  EFLOPS_CHECK(bytes <= end_ - begin_, "{} of {} bytes", bytes, end_ - begin_);
  begin_ += bytes;
  offset_ += bytes;
}

}  // namespace eflops::archive
