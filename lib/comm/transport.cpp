#include "comm/transport.h"

#include <cstring>

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

}  // namespace eflops::comm
