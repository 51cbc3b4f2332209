#include "comm/agreement.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"

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

void wait_for_all(Transport& transport, std::size_t count, Deadline deadline) {
  for (std::vector<Ticket> done; done.size() < count;) transport.wait(deadline, done);
}

}  // namespace

void check_agreement(Transport& transport, const Facts& facts, Deadline deadline) {
  const auto others = static_cast<std::size_t>(transport.size() - 1);
  if (others == 0) return;
  Text verdict{};
  if (transport.rank() == 0) {
    std::vector<Text> theirs(others);
    for (std::size_t i = 0; i < others; ++i) {
      transport.post_receive(static_cast<int>(i) + 1, bytes_of(theirs[i]), {});
    }
    wait_for_all(transport, others, deadline);
    std::string text;
    for (std::size_t i = 0; i < others && text.empty(); ++i) {
      theirs[i].back() = '\0';
      text = difference(written(facts), theirs[i].data(), static_cast<int>(i) + 1);
    }
    verdict = packed(text);
    for (std::size_t i = 0; i < others; ++i) transport.post_send(static_cast<int>(i) + 1, bytes_of(verdict));
    wait_for_all(transport, others, deadline);
  } else {
    Text mine = packed(written(facts));
    transport.post_send(0, bytes_of(mine));
    transport.post_receive(0, bytes_of(verdict), {});
    wait_for_all(transport, 2, deadline);
  }
  verdict.back() = '\0';
  if (verdict.front() != '\0') throw CommError("{}", verdict.data());
}

}  // namespace eflops::comm
