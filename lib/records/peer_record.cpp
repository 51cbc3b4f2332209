#include "records/peer_record.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "records/fields.h"

namespace eflops::records {
namespace {

constexpr std::int64_t kMinLaunches = 5;

}  // namespace

std::string verdict(const PeerRecord& record) {
  const bool higher = record.better == "higher";
  if (record.launches < kMinLaunches) return "undecided";
  if (higher ? record.ci_low >= record.goal : record.ci_high <= record.goal) return "met";
  if (higher ? record.ci_high < record.goal : record.ci_low > record.goal) return "missed";
  return "undecided";
}

Json to_json(const PeerRecord& from) {
  return Json{{"case", from.case_name},  {"ratio", from.ratio},
              {"ci_low", from.ci_low},   {"ci_high", from.ci_high},
              {"goal", from.goal},       {"better", from.better},
              {"ours", from.ours},       {"peer", from.peer},
              {"unit", from.unit},       {"peer_version", from.peer_version},
              {"command", from.command}, {"launches", from.launches},
              {"date", from.date},       {"provenance", to_json(from.provenance)}};
}

PeerRecord peer_record_from_json(const Json& object, std::string_view where) {
  const Fields fields(object, where);
  const auto positive = [&](const char* key) {
    const double value = fields.number(key);
    if (!(value > 0)) fields.fail(key, fmt::format("{} is not positive", value));
    return value;
  };
  PeerRecord read{.case_name = fields.filled_text("case"),
                  .ratio = positive("ratio"),
                  .ci_low = positive("ci_low"),
                  .ci_high = positive("ci_high"),
                  .goal = positive("goal"),
                  .better = fields.text("better"),
                  .ours = positive("ours"),
                  .peer = positive("peer"),
                  .unit = fields.filled_text("unit"),
                  .peer_version = fields.filled_text("peer_version"),
                  .command = fields.filled_text("command"),
                  .launches = fields.integer("launches"),
                  .date = fields.filled_text("date"),
                  .provenance = provenance_from_json(fields.object("provenance"), fields.where() + ": provenance")};
  if (read.better != "higher" && read.better != "lower")
    fields.fail("better", fmt::format("'{}' (valid: higher, lower)", read.better));
  if (read.launches < 1) fields.fail("launches", "at least 1 is expected");
  if (read.ci_low > read.ratio || read.ratio > read.ci_high)
    fields.fail("ratio", fmt::format("{} is outside its interval [{}, {}]", read.ratio, read.ci_low, read.ci_high));
  return read;
}

void append(const std::filesystem::path& file, const PeerRecord& record) {
  const Json line = to_json(record);
  try {
    peer_record_from_json(line, "peer record");
  } catch (const DataError& error) {
    throw InternalError("{}", error.what());
  }
  append_line(file, to_json_line(line));
}

std::vector<PeerRecord> read_peer_records(const std::filesystem::path& file) {
  std::vector<PeerRecord> records;
  for_each_line(
      file, [&](const Json& line, const std::string& where) { records.push_back(peer_record_from_json(line, where)); });
  return records;
}

}  // namespace eflops::records
