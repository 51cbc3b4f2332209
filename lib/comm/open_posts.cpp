#include "comm/open_posts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace eflops::comm {

Ticket OpenPosts::add(Direction direction, int peer, std::int64_t bytes) {
  EFLOPS_CHECK(peer >= 0 && peer < size_ && peer != rank_ && bytes > 0, "rank {} posts {} bytes for rank {} of {}",
               rank_, bytes, peer, size_);
  posts_.push_back({next_, direction, peer, bytes, std::chrono::steady_clock::now()});
  return next_++;
}

void OpenPosts::remove(Ticket ticket) {
  const auto found = std::ranges::find(posts_, ticket, &Post::ticket);
  EFLOPS_CHECK(found != posts_.end(), "ticket {} is not open", ticket);
  posts_.erase(found);
}

std::string OpenPosts::oldest() const {
  if (posts_.empty()) return fmt::format("rank {} waits for nothing", rank_);
  const Post& post = posts_.front();
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - post.since;
  std::string text = fmt::format("rank {} has waited {:.1f} s to {} {} bytes {} rank {}", rank_, waited.count(),
                                 post.direction == Direction::Send ? "send" : "receive", post.bytes,
                                 post.direction == Direction::Send ? "to" : "from", post.peer);
  if (posts_.size() > 1) {
    std::set<int> peers;
    for (auto other = std::next(posts_.begin()); other != posts_.end(); ++other) peers.insert(other->peer);
    text += fmt::format(" (and for {} other transfers with rank{} {})", posts_.size() - 1, peers.size() > 1 ? "s" : "",
                        fmt::join(peers, ", "));
  }
  return text;
}

std::string OpenPosts::beside(const std::string& reason) const {
  return posts_.empty() ? reason : fmt::format("{}; {}", reason, oldest());
}

}  // namespace eflops::comm
