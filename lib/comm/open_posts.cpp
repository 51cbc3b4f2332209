#include "comm/open_posts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"

namespace eflops::comm {

Deadline deadline_after(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

void arrive(const Arrival& arrival, std::span<const std::byte> bytes, std::byte* target, std::int64_t offset) {
  if (!arrival.reduces) {
    std::memcpy(target, bytes.data(), bytes.size());
    return;
  }
  const std::byte* const base = arrival.base == nullptr ? target : arrival.base + offset;
  kernels::reduce(arrival.reduction, arrival.element, base, bytes.data(), target,
                  static_cast<std::int64_t>(bytes.size()) / kernels::bytes_of(arrival.element));
}

Ticket OpenPosts::add(Direction direction, int peer, std::int64_t bytes) {
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
