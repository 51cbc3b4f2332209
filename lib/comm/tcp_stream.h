#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "comm/tcp_connect.h"
#include "comm/transport.h"

namespace eflops::comm {

/// A message that is being sent or received in pieces over the streams of a pair.
struct TcpMessage {
  Ticket ticket = 0;
  std::byte* bytes = nullptr;
  std::int64_t size = 0;
  Arrival arrival;
  std::int64_t left = 0;  ///< bytes not moved yet
};

/// What a stream's progress came to.
enum class StreamEnd { Open, Closed };

/// One direction and one connection: pieces in order. The first piece of a message begins with the message's size in 8
/// bytes.
class TcpStream {
 public:
  static constexpr std::int64_t kPieceBytes = 128 << 10;  // a multiple of every element's size

  explicit TcpStream(int descriptor) : descriptor_(descriptor) {}

  /// Adds a piece of a message at its end.
  void add_send(const std::shared_ptr<TcpMessage>& message, std::int64_t offset, std::int64_t size);
  void add_receive(const std::shared_ptr<TcpMessage>& message, std::int64_t offset, std::int64_t size);
  bool wants_to_send() const { return !sends_.empty(); }
  bool wants_to_receive() const { return !receives_.empty(); }
  /// Of the message that comes next; it must want to receive.
  std::int64_t expected_size() const { return receives_.front().message->size; }

  /// Sends as much as the socket takes; messages whose last byte has gone are added to `done`.
  StreamEnd send(std::vector<std::shared_ptr<TcpMessage>>& done);
  /// Receives as much as there is. `wrong_size` becomes the size that the peer states where it is not the expected one.
  StreamEnd receive(std::vector<std::shared_ptr<TcpMessage>>& done, std::int64_t& wrong_size);

 private:
  struct Piece {
    std::shared_ptr<TcpMessage> message;
    std::int64_t offset = 0;
    std::int64_t size = 0;
    std::int64_t header_left = 0;
    std::int64_t left = 0;
  };
  static Piece piece_of(const std::shared_ptr<TcpMessage>& message, std::int64_t offset, std::int64_t size);
  void end_receive(std::vector<std::shared_ptr<TcpMessage>>& done);

  int descriptor_;
  std::deque<Piece> sends_;
  std::deque<Piece> receives_;
  std::int64_t header_ = 0;  // of the piece that is being received
  std::vector<std::byte> staging_;
};

}  // namespace eflops::comm
