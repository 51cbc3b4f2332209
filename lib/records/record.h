#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/options.h"
#include "records/provenance.h"

namespace eflops::records {

inline constexpr std::int64_t kSchema = 1;

/// How the work ended. Only Complete may enter a table as a number.
enum class Status { Complete, Failed, Timeout, Interrupted, Unverified };

/// How the result was checked: "passed" and "failed" are outcomes of `method`; "none" means that nothing was checked.
enum class Outcome { Passed, Failed, None };

struct Verification {
  std::string method;  ///< "finite losses, data cover, checkpoint checksum"
  Outcome outcome = Outcome::None;
};

/// One measured quantity with every sample that was taken. NaN and infinities are written as null and read as NaN.
struct Measurement {
  std::string name;  ///< "step_time"
  std::string unit;  ///< "s", "GB/s"
  std::vector<double> samples;
};

/// A named fact of the run: transport and algorithm actually used, model size, error text.
using Fact = std::pair<std::string, std::variant<bool, std::int64_t, double, std::string>>;

/// One line of a records file (results/README.md documents the schema).
struct Record {
  Status status = Status::Unverified;
  Verification verification;
  std::string program;      ///< "eflops-info peak"
  std::string experiment;   ///< name of the run or of the point of a sweep
  std::string config_hash;  ///< base/options.h
  std::string command;      ///< as it was typed
  std::string date;         ///< UTC, "2026-01-31T12:34:56Z"
  std::int64_t seed = 0;
  std::vector<Measurement> measurements;
  std::vector<Fact> facts;
  Provenance provenance;
};

/// Throws InternalError when the record contradicts itself: Complete without a passed verification, a failed one with
/// another status than Failed, an empty program or date, a measurement without name or samples.
void check(const Record& record);

Json to_json(const Record& record);

/// DataError beginning with `where` when the object is not a record of this schema or fails check().
Record record_from_json(const Json& object, std::string_view where);

/// Checks and appends one line, in one write, so that several processes may share a file.
void append(const std::filesystem::path& file, const Record& record);

/// Every record of a file. DataError `file:line: …` on the first bad line.
std::vector<Record> read_records(const std::filesystem::path& file);

}  // namespace eflops::records

template <>
struct eflops::Choices<eflops::records::Status> {
  using enum records::Status;
  static constexpr std::pair<records::Status, std::string_view> kEntries[] = {{Complete, "complete"},
                                                                              {Failed, "failed"},
                                                                              {Timeout, "timeout"},
                                                                              {Interrupted, "interrupted"},
                                                                              {Unverified, "unverified"}};
};

template <>
struct eflops::Choices<eflops::records::Outcome> {
  using enum records::Outcome;
  static constexpr std::pair<records::Outcome, std::string_view> kEntries[] = {
      {Passed, "passed"}, {Failed, "failed"}, {None, "none"}};
};
