#include "comm/private_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace eflops::comm {

std::shared_ptr<std::byte> private_memory(std::int64_t bytes) {
  constexpr std::align_val_t kAlignment{64};
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(::operator new(size, kAlignment)),
                                    [](std::byte* p) { ::operator delete(p, kAlignment); });
  std::memset(memory.get(), 0, size);
  return memory;
}

}  // namespace eflops::comm
