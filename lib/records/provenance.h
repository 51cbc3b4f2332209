#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace eflops::records {

/// Where a number comes from (DESIGN D9); experiment/provenance.h fills it in for the running process.
struct Provenance {
  std::string version;     ///< of the suite
  std::string git_commit;  ///< 40 hex digits or "unknown"
  bool git_dirty = false;
  std::string host;
  std::string kernel;
  std::string cpu;
  std::int64_t cores = 0;
  double memory_gib = 0;
  double load = 0;  ///< load average of the last minute before the work began
  std::string compiler;
  std::string flags;
  std::string build_type;
  std::vector<std::pair<std::string, std::string>> libraries;  ///< name, version
  std::int64_t ranks = 1;    ///< 0: not known, of a record made from another tool's log
  std::int64_t threads = 1;  ///< per rank
  std::string placement;
};

Json to_json(const Provenance& provenance);

/// DataError beginning with `where` when a field is missing or of another type.
Provenance provenance_from_json(const Json& object, std::string_view where);

}  // namespace eflops::records
