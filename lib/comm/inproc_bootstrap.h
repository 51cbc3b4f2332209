#pragma once

#include <functional>

#include "comm/bootstrap.h"

namespace eflops::comm {

/// Runs body(bootstrap) on `ranks` threads and joins them; errors as run_rank_threads. A rank that fails ends the
/// gathering of the others.
void run_bootstraps(int ranks, const std::function<void(Bootstrap&)>& body,
                    const std::function<void(int, const std::string&)>& on_error = {});

/// Makes a rank's transport from its bootstrap.
using TransportMaker = std::function<std::unique_ptr<Transport>(Bootstrap&)>;

/// Runs body(transport) on `ranks` threads with transports of `make`, and joins them; errors as run_inproc. For tests
/// of transports between processes, whose ranks may as well be threads.
void run_threads(int ranks, const TransportMaker& make, const std::function<void(Transport&)>& body);

}  // namespace eflops::comm
