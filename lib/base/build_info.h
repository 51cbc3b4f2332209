#pragma once

#include <string>

namespace eflops {

/// What this binary was made from; every record carries it (DESIGN D9).
struct BuildInfo {
  std::string version;     ///< "0.1.0"
  std::string git_commit;  ///< 40 hex digits, or "unknown" outside a checkout
  bool git_dirty = false;  ///< uncommitted changes when it was built
  std::string compiler;    ///< "GNU 12.2.0"
  std::string flags;       ///< build type and its flags
  std::string build_type;  ///< "Release"
};

const BuildInfo& build_info();

}  // namespace eflops
