#pragma once

#include <span>

#include "kernels/reduce.h"
#include "kernels/stream.h"

namespace eflops::kernels {

/// outputs[k][i] = inputs[0][i] reduced with inputs[1][i], then with inputs[2][i] ..., for n elements and every k, in
/// one pass over memory. At least one input; an output may be an input, but not overlap one in part.
///
/// Elements are those of reduce() taken in this order, but 16-bit floats are rounded once, at the end. Average divides
/// by the number of inputs (floats before they are rounded). With Streaming results go past the caches, which spares
/// reading the memory they replace where they are larger than the last-level cache and not read soon; the stores are
/// fenced. It needs outputs that are equally far from a line of cache, else they are stored as ever.
void reduce_many(Reduction reduction, Element element, std::span<const void* const> inputs,
                 std::span<void* const> outputs, std::int64_t n, Store how = Store::Cached);

}  // namespace eflops::kernels
