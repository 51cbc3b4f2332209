#include "comm/agreement.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "comm/small_collectives.h"

namespace eflops::comm {
namespace {

constexpr std::size_t kTextBytes = 4096;
using Text = std::array<char, kTextBytes>;

Text packed(const std::string& text) {
  EFLOPS_CHECK(text.size() < kTextBytes, "{} bytes of facts; at most {}", text.size(), kTextBytes - 1);
  Text result{};
  std::copy(text.begin(), text.end(), result.begin());
  return result;
}

/// name, tab, value, line end, for every fact.
std::string written(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + "\t" + value + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// The first difference in words; empty if there is none.
std::string difference(const std::string& mine, const std::string& theirs, int rank) {
  const std::vector<std::string> a = lines_of(mine);
  const std::vector<std::string> b = lines_of(theirs);
  const auto [here, there] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (here == a.end() && there == b.end()) return "";
  const auto value = [](const std::string& line) { return line.substr(std::min(line.find('\t') + 1, line.size())); };
  if (here == a.end() || there == b.end()) {
    return fmt::format("ranks disagree: rank 0 states {} facts and rank {} {}", a.size(), rank, b.size());
  }
  return fmt::format("ranks disagree: {} is {} on rank 0 and {} on rank {}", here->substr(0, here->find('\t')),
                     value(*here), value(*there), rank);
}

std::span<std::byte> bytes_of(Text& text) { return std::as_writable_bytes(std::span(text)); }

}  // namespace

void check_agreement(Transport& transport, const Facts& facts, Deadline deadline) {
  const std::string mine = written(facts);
  Text text = packed(mine);
  const std::vector<std::vector<std::byte>> all = gather(transport, bytes_of(text), deadline);
  std::string verdict;
  for (std::size_t rank = 1; rank < all.size() && verdict.empty(); ++rank) {
    // packed() leaves a zero at the end.
    verdict = difference(mine, reinterpret_cast<const char*>(all[rank].data()), static_cast<int>(rank));
  }
  text = packed(verdict);
  broadcast(transport, bytes_of(text), deadline);
  if (text.front() != '\0') throw CommError("{}", text.data());
}

}  // namespace eflops::comm
