#pragma once

#include <memory>

#include "comm/bootstrap.h"

namespace eflops::comm {

/// How processes of one server reach memory that is not in a shared segment.
enum class Unregistered {
  Probe,   ///< straight from the peer's memory where the system allows it (process_vm_readv), else staged
  Staged,  ///< through shared staging memory, piece by piece
};

/// A transport between processes of one server through shared memory. Memory of allocate() is reduced or copied
/// straight from the sender by its receiver; other memory as `unregistered` says; up to 192 bytes ride in the queue
/// itself. CommError if ranks are on different hosts, or /dev/shm has no room. Segments of killed runs are removed
/// first.
std::unique_ptr<Transport> make_shm_transport(Bootstrap& bootstrap, Unregistered unregistered = Unregistered::Probe,
                                              double timeout_s = 30);

}  // namespace eflops::comm
