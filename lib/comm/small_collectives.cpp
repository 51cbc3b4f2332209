#include "comm/small_collectives.h"

#include <array>
#include <cstring>

namespace eflops::comm {
namespace {

void wait_for_all(Transport& transport, std::size_t count, Deadline deadline) {
  for (std::vector<Ticket> done; done.size() < count;) transport.wait(deadline, done);
}

}  // namespace

void barrier(Transport& transport, Deadline deadline) {
  const int size = transport.size();
  std::array<std::byte, 1> sent{};
  std::array<std::byte, 1> received{};
  for (int distance = 1; distance < size; distance *= 2) {
    transport.post_receive((transport.rank() - distance % size + size) % size, received, {});
    transport.post_send((transport.rank() + distance) % size, sent);
    wait_for_all(transport, 2, deadline);
  }
}

std::vector<std::vector<std::byte>> gather(Transport& transport, std::span<const std::byte> mine, Deadline deadline) {
  std::vector<std::vector<std::byte>> all;
  if (transport.rank() != 0) {
    if (mine.empty()) return all;
    transport.post_send(0, mine);
    wait_for_all(transport, 1, deadline);
    return all;
  }
  all.assign(static_cast<std::size_t>(transport.size()), std::vector<std::byte>(mine.size()));
  all[0].assign(mine.begin(), mine.end());
  if (mine.empty()) return all;
  for (int peer = 1; peer < transport.size(); ++peer) {
    transport.post_receive(peer, all[static_cast<std::size_t>(peer)], {});
  }
  wait_for_all(transport, all.size() - 1, deadline);
  return all;
}

void broadcast(Transport& transport, std::span<std::byte> bytes, Deadline deadline) {
  if (bytes.empty() || transport.size() == 1) return;
  if (transport.rank() != 0) {
    transport.post_receive(0, bytes, {});
    wait_for_all(transport, 1, deadline);
    return;
  }
  for (int peer = 1; peer < transport.size(); ++peer) transport.post_send(peer, bytes);
  wait_for_all(transport, static_cast<std::size_t>(transport.size() - 1), deadline);
}

std::vector<std::vector<double>> gather(Transport& transport, std::span<const double> mine, Deadline deadline) {
  std::vector<std::vector<double>> all;
  for (const std::vector<std::byte>& bytes : gather(transport, std::as_bytes(mine), deadline)) {
    all.emplace_back(bytes.size() / sizeof(double));
    if (!bytes.empty()) std::memcpy(all.back().data(), bytes.data(), bytes.size());
  }
  return all;
}

}  // namespace eflops::comm
