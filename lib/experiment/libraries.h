#pragma once

#include <string>
#include <utility>
#include <vector>

namespace eflops::experiment {

/// Name and version of every library this binary was configured with, as records carry them.
const std::vector<std::pair<std::string, std::string>>& library_versions();

}  // namespace eflops::experiment
