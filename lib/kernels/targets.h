#pragma once

#include <string>
#include <vector>

namespace eflops::kernels {

/// The instruction sets these kernels are compiled for and this CPU can run, best first: e.g. AVX2, SCALAR.
std::vector<std::string> available_targets();

/// The one in use; results of two targets may differ in the last bits, those of one target never do.
std::string active_target();

/// Makes all kernels use `name` from now on; ConfigError names the choices if this CPU or build lacks it. For tests and
/// measurements; call it while no kernel runs.
void use_target(const std::string& name);

}  // namespace eflops::kernels
