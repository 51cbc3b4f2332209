#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "coll/schedule.h"

namespace eflops::bench {

/// What a choice of algorithm depends on, beside the size.
struct TuningCase {
  coll::Collective collective = coll::Collective::Allreduce;
  std::string transport;  ///< "tcp"
  int ranks = 1;
  int servers = 1;

  /// "allreduce.tcp.ranks_4.servers_2": its key in the file.
  std::string key() const;
};

/// From the entry before (or 0) up to this size the algorithm was the fastest.
struct TuningEntry {
  std::int64_t up_to_bytes = 0;
  std::string algorithm;
  friend bool operator==(const TuningEntry&, const TuningEntry&) = default;
};

/// How fast each algorithm was at one size.
struct TuningSample {
  std::int64_t bytes = 0;
  std::string algorithm;
  double seconds = 0;  ///< median
};

/// Which algorithm `auto` takes: what `eflops-bench tune` measured, in a file that a person can read and change.
class TuningTable {
 public:
  /// ConfigError with file, line and key for a collective or algorithm that does not exist, a size that is none or not
  /// larger than the one before it, an entry that is not "SIZE ALGORITHM".
  static TuningTable read(const std::filesystem::path& file);
  /// Replaces the file in one step. `head` becomes its first, commented lines.
  void write(const std::filesystem::path& file, const std::string& head) const;

  /// Sets a case to the fastest algorithm of each size; equal neighbours become one entry, and between two sizes the
  /// larger one's choice begins above the smaller one. A neighbour's choice is kept while it is within `tolerance` of
  /// the fastest, so that noise makes no entries. InternalError without samples.
  void set(const TuningCase& one, const std::vector<TuningSample>& samples, double tolerance);

  struct Choice {
    std::string algorithm;  ///< empty where the table has no such case
    std::string note;       ///< which entry was used for a size beyond the table
  };
  Choice choose(const TuningCase& one, std::int64_t bytes) const;

  /// Sizes at which the table's choice did not run or was slower than the fastest by more than `tolerance`, in words.
  std::vector<std::string> misses(const TuningCase& one, const std::vector<TuningSample>& samples,
                                  double tolerance) const;

  /// The entries of a case; empty if it has none.
  const std::vector<TuningEntry>& entries(const TuningCase& one) const;
  /// The same for equal tables.
  std::string hash() const;

 private:
  std::string text() const;
  std::map<std::string, std::vector<TuningEntry>> cases_;  // by key
};

}  // namespace eflops::bench
