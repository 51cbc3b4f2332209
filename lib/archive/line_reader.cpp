#include "archive/line_reader.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace eflops::archive {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

}  // namespace

LineReader::LineReader(const std::string& file, std::size_t longest_line)
    : stream_(file), longest_line_(longest_line), buffer_(kBuffer, '\0') {}

void LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  const std::size_t got = stream_.read({buffer_.data() + end_, buffer_.size() - end_});
  at_end_ = got == 0;
  end_ += got;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_ + searched, end_ - begin_ - searched);
    const std::size_t newline = rest.find('\n');
    const std::size_t length = newline == std::string_view::npos ? end_ - begin_ : searched + newline;
    if (length > longest_line_)
      throw DataError("{}:{}: a line longer than {} MiB: is this text?", stream_.name(), line_number_ + 1,
                      longest_line_ >> 20);
    if (newline != std::string_view::npos || (at_end_ && length > 0)) {
      line = {buffer_.data() + begin_, length};
      begin_ += std::min(length + 1, end_ - begin_);
      ++line_number_;
      return true;
    }
    if (at_end_) return false;
    searched = length;
    fill();
  }
}

}  // namespace eflops::archive
