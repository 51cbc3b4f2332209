#include "comm/tcp_stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace eflops::comm {
namespace {

constexpr std::int64_t kHeaderBytes = sizeof(std::int64_t);

bool may_go_on(ssize_t moved) { return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR); }

/// The rest of a header and the rest of its data; one call moves both.
msghdr rest_of(std::array<iovec, 2>& parts, std::byte* header_end, std::int64_t header_left, std::byte* data,
               std::int64_t left) {
  parts[0] = {header_end - header_left, static_cast<std::size_t>(header_left)};
  parts[1] = {data, static_cast<std::size_t>(left)};
  msghdr message{};
  message.msg_iov = header_left > 0 ? parts.data() : parts.data() + 1;
  message.msg_iovlen = header_left > 0 ? 2 : 1;
  return message;
}

}  // namespace

TcpStream::Piece TcpStream::piece_of(const std::shared_ptr<TcpMessage>& message, std::int64_t offset,
                                     std::int64_t size) {
  return {message, offset, size, offset == 0 ? kHeaderBytes : 0, size};
}

void TcpStream::add_send(const std::shared_ptr<TcpMessage>& message, std::int64_t offset, std::int64_t size) {
  sends_.push_back(piece_of(message, offset, size));
}

void TcpStream::add_receive(const std::shared_ptr<TcpMessage>& message, std::int64_t offset, std::int64_t size) {
  receives_.push_back(piece_of(message, offset, size));
}

StreamEnd TcpStream::send(std::vector<std::shared_ptr<TcpMessage>>& done) {
  while (!sends_.empty()) {
    Piece& piece = sends_.front();
    TcpMessage& message = *piece.message;
    std::int64_t header = message.size;
    std::array<iovec, 2> parts{};
    const msghdr rest = rest_of(parts, reinterpret_cast<std::byte*>(&header) + kHeaderBytes, piece.header_left,
                                message.bytes + piece.offset + piece.size - piece.left, piece.left);
    std::int64_t moved = ::sendmsg(descriptor_, &rest, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (moved < 0) return may_go_on(moved) ? StreamEnd::Open : StreamEnd::Closed;
    const std::int64_t of_header = std::min(moved, piece.header_left);
    piece.header_left -= of_header;
    piece.left -= moved - of_header;
    message.left -= moved - of_header;
    if (piece.left > 0) continue;
    if (message.left == 0) done.push_back(piece.message);
    sends_.pop_front();
  }
  return StreamEnd::Open;
}

StreamEnd TcpStream::receive(std::vector<std::shared_ptr<TcpMessage>>& done, std::int64_t& wrong_size) {
  while (!receives_.empty()) {
    Piece& piece = receives_.front();
    TcpMessage& message = *piece.message;
    std::byte* target = message.bytes + piece.offset;
    if (message.arrival.reduces) {
      staging_.resize(kPieceBytes);
      target = staging_.data();
    }
    std::array<iovec, 2> parts{};
    msghdr rest = rest_of(parts, reinterpret_cast<std::byte*>(&header_) + kHeaderBytes, piece.header_left,
                          target + piece.size - piece.left, piece.left);
    const std::int64_t moved = ::recvmsg(descriptor_, &rest, MSG_DONTWAIT);
    if (moved < 0) return may_go_on(moved) ? StreamEnd::Open : StreamEnd::Closed;
    if (moved == 0) return StreamEnd::Closed;
    const std::int64_t of_header = std::min(moved, piece.header_left);
    piece.header_left -= of_header;
    if (piece.header_left == 0 && of_header > 0 && header_ != message.size) {
      wrong_size = header_;
      return StreamEnd::Open;
    }
    piece.left -= moved - of_header;
    message.left -= moved - of_header;
    if (piece.left == 0) end_receive(done);
  }
  return StreamEnd::Open;
}

void TcpStream::end_receive(std::vector<std::shared_ptr<TcpMessage>>& done) {
  const Piece piece = std::move(receives_.front());
  receives_.pop_front();
  const Arrival& arrival = piece.message->arrival;
  if (arrival.reduces) {
    arrive(arrival, {staging_.data(), static_cast<std::size_t>(piece.size)}, piece.message->bytes + piece.offset,
           piece.offset);
  }
  if (piece.message->left == 0) done.push_back(piece.message);
}

}  // namespace eflops::comm
