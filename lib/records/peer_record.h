#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "records/provenance.h"

namespace eflops::records {

/// One case of a comparison with a peer's tool, a line of `results/peers/TOPIC.jsonl` (DESIGN 5). The unit of
/// comparison is the launch; experiments interleave ours and the peer's.
struct PeerRecord {
  std::string case_name;  ///< key "case"
  double ratio = 0;       ///< ours / peer
  double ci_low = 0;      ///< 95 % bootstrap interval of the ratio over launch medians
  double ci_high = 0;
  double goal = 0;
  std::string better;  ///< "higher": ratio >= goal is wanted; "lower": ratio <= goal
  double ours = 0;     ///< median over launches, in `unit`
  double peer = 0;
  std::string unit;
  std::string peer_version;
  std::string command;
  std::int64_t launches = 0;  ///< of each side
  std::string date;           ///< UTC
  Provenance provenance;
};

/// "met" or "missed" when the whole interval lies on one side of the goal and there were at least 5 launches, else
/// "undecided".
std::string verdict(const PeerRecord& record);

Json to_json(const PeerRecord& record);

/// DataError beginning with `where` when a field is missing, mistyped or impossible: an interval that does not hold the
/// ratio, numbers that are not positive, `better` other than higher or lower.
PeerRecord peer_record_from_json(const Json& object, std::string_view where);

/// Appends one checked line. A record that would not be read back is an InternalError.
void append(const std::filesystem::path& file, const PeerRecord& record);

/// Every line of a file. DataError `file:line: …` on the first bad one.
std::vector<PeerRecord> read_peer_records(const std::filesystem::path& file);

}  // namespace eflops::records
