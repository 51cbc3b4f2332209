#pragma once

#include <span>

namespace eflops::train {

/// First and second moments of all gradients, flat buffers in the layout of the parameters.
struct Moments {
  std::span<float> m;
  std::span<float> v;
};

}  // namespace eflops::train
