#include "bench/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

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

constexpr std::string_view kOnePass = comm::kOnePass;

/// A collective's name as a key in YAML, where '-' and '_' are one letter.
std::string key_of(coll::Collective collective) {
  std::string name(coll::collective_name(collective));
  std::ranges::replace(name, '-', '_');
  return name;
}

coll::Collective collective_in(const Assignment& assignment) {
  const std::string name = assignment.path.substr(0, assignment.path.find('.'));
  std::string known;
  for (const coll::Algorithm& algorithm : coll::algorithms()) {
    const std::string found = key_of(algorithm.collective);
    if (found == name) return algorithm.collective;
    if (known.find(found) == std::string::npos) known += " " + found;
  }
  throw ConfigError("{}: {}: '{}' is no collective; there are{}", assignment.source, assignment.path, name, known);
}

TuningEntry entry_in(const Assignment& assignment, const std::string& word, coll::Collective collective) {
  const std::size_t blank = word.find(' ');
  if (blank == std::string::npos) {
    throw ConfigError("{}: {}: '{}' is no entry; one is \"64K ring\"", assignment.source, assignment.path, word);
  }
  const std::string where = fmt::format("{}: {}", assignment.source, assignment.path);
  TuningEntry entry{parse_bytes(word.substr(0, blank), where), word.substr(blank + 1)};
  const bool is_one_pass = entry.algorithm == kOnePass && collective == coll::Collective::Allreduce;
  try {
    if (!is_one_pass) coll::algorithm(collective, entry.algorithm);
  } catch (const ConfigError& error) {
    throw ConfigError("{}: {}", where, error.what());
  }
  return entry;
}

/// Seconds of an algorithm at one size; nothing where it was not measured.
const TuningSample* find(const std::vector<TuningSample>& samples, std::int64_t bytes, const std::string& algorithm) {
  const auto found = std::ranges::find_if(
      samples, [&](const TuningSample& one) { return one.bytes == bytes && one.algorithm == algorithm; });
  return found == samples.end() ? nullptr : &*found;
}

}  // namespace

std::string TuningCase::key() const {
  return fmt::format("{}.{}.ranks_{}.servers_{}", key_of(collective), transport, ranks, servers);
}

TuningTable TuningTable::read(const std::filesystem::path& file) {
  TuningTable table;
  for (const Assignment& assignment : config::read_yaml(file).assignments) {
    const coll::Collective collective = collective_in(assignment);
    std::vector<TuningEntry>& entries = table.cases_[assignment.path];
    for (const std::string& word : assignment.values) {
      entries.push_back(entry_in(assignment, word, collective));
      const std::size_t count = entries.size();
      if (count > 1 && entries[count - 1].up_to_bytes <= entries[count - 2].up_to_bytes) {
        throw ConfigError("{}: {}: '{}' is not larger than the entry before it", assignment.source, assignment.path,
                          word);
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
  std::vector<std::int64_t> sizes;
  for (const TuningSample& sample : samples) sizes.push_back(sample.bytes);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<TuningEntry>& entries = cases_[one.key()];
  entries.clear();
  for (const std::int64_t bytes : sizes) {
    const TuningSample* best = nullptr;
    for (const TuningSample& sample : samples) {
      if (sample.bytes == bytes && (best == nullptr || sample.seconds < best->seconds)) best = &sample;
    }
    const TuningSample* const kept = entries.empty() ? nullptr : find(samples, bytes, entries.back().algorithm);
    if (kept != nullptr && kept->seconds <= (1 + tolerance) * best->seconds) {
      entries.back().up_to_bytes = bytes;
    } else {
      entries.push_back({bytes, best->algorithm});
    }
  }
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
