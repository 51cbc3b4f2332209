#include "bench/tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/progress.h"
#include "bench/sizes.h"
#include "coll/algorithms.h"
#include "comm/one_pass.h"
#include "config/yaml_file.h"

namespace eflops::bench {
namespace {

/// File, line and key.
std::string where_of(const Assignment& assignment) { return fmt::format("{}: {}", assignment.source, assignment.path); }

/// What `look_up` finds, or its error with the place in the file.
auto at(const Assignment& assignment, const auto& look_up) {
  try {
    return look_up();
  } catch (const ConfigError& error) {
    throw ConfigError("{}: {}", where_of(assignment), error.what());
  }
}

TuningEntry entry_in(const Assignment& assignment, const std::string& word, coll::Collective collective) {
  const std::size_t blank = word.find(' ');
  if (blank == std::string::npos) {
    throw ConfigError("{}: '{}' is no entry; one is \"64K ring\"", where_of(assignment), word);
  }
  TuningEntry entry{parse_bytes(word.substr(0, blank), where_of(assignment)), word.substr(blank + 1)};
  const bool is_one_pass = entry.algorithm == comm::kOnePass && collective == coll::Collective::Allreduce;
  if (!is_one_pass) at(assignment, [&] { return coll::algorithm(collective, entry.algorithm).name; });
  return entry;
}

/// Seconds of an algorithm at one size; nothing where it was not measured.
const TuningSample* find(const std::vector<TuningSample>& samples, std::int64_t bytes, const std::string& algorithm) {
  const auto found = std::ranges::find_if(
      samples, [&](const TuningSample& one) { return one.bytes == bytes && one.algorithm == algorithm; });
  return found == samples.end() ? nullptr : &*found;
}

/// The fastest at a size that was measured.
const TuningSample& fastest(const std::vector<TuningSample>& samples, std::int64_t bytes) {
  const TuningSample* best = nullptr;
  for (const TuningSample& sample : samples) {
    if (sample.bytes == bytes && (best == nullptr || sample.seconds < best->seconds)) best = &sample;
  }
  EFLOPS_CHECK(best != nullptr, "no sample of {} bytes", bytes);
  return *best;
}

/// Each size once, the smallest first.
std::vector<std::int64_t> sizes_in(const std::vector<TuningSample>& samples) {
  std::vector<std::int64_t> sizes;
  for (const TuningSample& sample : samples) sizes.push_back(sample.bytes);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

std::string TuningCase::key() const {
  std::string name(coll::collective_name(collective));
  std::ranges::replace(name, '-', '_');  // which are one letter in a YAML key
  return fmt::format("{}.{}.ranks_{}.servers_{}", name, transport, ranks, servers);
}

TuningTable TuningTable::read(const std::filesystem::path& file) {
  TuningTable table;
  for (const Assignment& assignment : config::read_yaml(file).assignments) {
    const coll::Collective collective =
        at(assignment, [&] { return coll::collective_named(assignment.path.substr(0, assignment.path.find('.'))); });
    std::vector<TuningEntry>& entries = table.cases_[assignment.path];
    for (const std::string& word : assignment.values) {
      entries.push_back(entry_in(assignment, word, collective));
      const std::size_t count = entries.size();
      if (count > 1 && entries[count - 1].up_to_bytes <= entries[count - 2].up_to_bytes) {
        throw ConfigError("{}: '{}' is not larger than the entry before it", where_of(assignment), word);
      }
    }
  }
  return table;
}

std::string TuningTable::text() const {
  std::string text;
  for (const auto& [key, entries] : cases_) {
    text += fmt::format("{}:\n", key);
    for (const TuningEntry& entry : entries) text += fmt::format("  - {} {}\n", entry.up_to_bytes, entry.algorithm);
  }
  return text;
}

void TuningTable::write(const std::filesystem::path& file, const std::string& head) const {
  std::string lines;
  for (std::size_t begin = 0; begin < head.size();) {
    const std::size_t end = std::min(head.find('\n', begin), head.size());
    lines += "# " + head.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  write_file_atomically(file, lines + text());
}

void TuningTable::set(const TuningCase& one, const std::vector<TuningSample>& samples, double tolerance) {
  EFLOPS_CHECK(!samples.empty(), "no samples of {}", one.key());
  std::vector<TuningEntry>& entries = cases_[one.key()];
  entries.clear();
  for (const std::int64_t bytes : sizes_in(samples)) {
    const TuningSample& best = fastest(samples, bytes);
    const TuningSample* const kept = entries.empty() ? nullptr : find(samples, bytes, entries.back().algorithm);
    if (kept != nullptr && kept->seconds <= (1 + tolerance) * best.seconds) {
      entries.back().up_to_bytes = bytes;
    } else {
      entries.push_back({bytes, best.algorithm});
    }
  }
}

std::vector<std::string> TuningTable::misses(const TuningCase& one, const std::vector<TuningSample>& samples,
                                             double tolerance) const {
  std::vector<std::string> found;
  for (const std::int64_t bytes : sizes_in(samples)) {
    const std::string chosen = choose(one, bytes).algorithm;
    const TuningSample& best = fastest(samples, bytes);
    const TuningSample* const ours = find(samples, bytes, chosen);
    if (ours == nullptr) {
      found.push_back(fmt::format("{} B: the table's '{}' did not run", bytes, chosen));
    } else if (ours->seconds > (1 + tolerance) * best.seconds) {
      found.push_back(fmt::format("{} B: {} takes {:.2f} times as long as {}", bytes, chosen,
                                  ours->seconds / best.seconds, best.algorithm));
    }
  }
  return found;
}

TuningTable::Choice TuningTable::choose(const TuningCase& one, std::int64_t bytes) const {
  const std::vector<TuningEntry>& found = entries(one);
  if (found.empty()) return {};
  for (const TuningEntry& entry : found) {
    if (bytes <= entry.up_to_bytes) return {entry.algorithm, ""};
  }
  return {found.back().algorithm, fmt::format("beyond the table: entry up to {}",
                                              format_bytes(static_cast<std::uint64_t>(found.back().up_to_bytes)))};
}

const std::vector<TuningEntry>& TuningTable::entries(const TuningCase& one) const {
  static const std::vector<TuningEntry> none;
  const auto found = cases_.find(one.key());
  return found == cases_.end() ? none : found->second;
}

std::string TuningTable::hash() const { return hex64(hash64(text())); }

}  // namespace eflops::bench
