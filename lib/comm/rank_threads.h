#pragma once

#include <functional>
#include <string>

namespace eflops::comm {

/// Runs body(rank) on `ranks` threads, rank 0 on the caller's, and joins them. A rank that throws calls
/// on_error(rank, text) on its thread, so that others can be told; the first error is thrown here.
void run_rank_threads(int ranks, const std::function<void(int)>& body,
                      const std::function<void(int, const std::string&)>& on_error);

}  // namespace eflops::comm
