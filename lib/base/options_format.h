#pragma once

#include <string>
#include <string_view>

namespace eflops {

/// The shortest decimal that reads back as the same double.
std::string format_number(double value);

/// A YAML scalar: plain where that is unambiguous, else double-quoted with escapes.
std::string yaml_scalar(std::string_view text);

}  // namespace eflops
