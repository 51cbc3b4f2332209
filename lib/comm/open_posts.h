#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/transport.h"

namespace eflops::comm {

enum class Direction : std::uint8_t { Send, Receive };

/// What a rank has posted and not yet seen finished; the words of a timeout come from here.
class OpenPosts {
 public:
  OpenPosts(int rank, int size) : rank_(rank), size_(size) {}

  /// InternalError for a peer that is none and for no bytes.
  Ticket add(Direction direction, int peer, std::int64_t bytes);
  void remove(Ticket ticket);
  bool empty() const { return posts_.empty(); }
  /// "rank 2 has waited 5.0 s to receive 1048576 bytes from rank 3 (and for 2 other transfers with ranks 0, 3)".
  std::string oldest() const;
  /// Why another rank gave up, and what this one waits for: together they lead to the rank at the root of it.
  std::string beside(const std::string& reason) const;

 private:
  struct Post {
    Ticket ticket = 0;
    Direction direction = Direction::Send;
    int peer = 0;
    std::int64_t bytes = 0;
    Deadline since;
  };
  int rank_;
  int size_;
  Ticket next_ = 0;
  std::vector<Post> posts_;  // few, in the order of their tickets
};

}  // namespace eflops::comm
