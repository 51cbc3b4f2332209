#include "coll/rank_map.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "coll/steps.h"

namespace eflops::coll {
namespace {

std::vector<int> in_a_row(int ranks) {
  std::vector<int> places(static_cast<std::size_t>(ranks));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

}  // namespace

RankMap::RankMap(std::vector<int> places) : places_(std::move(places)), ranks_(places_.size(), -1) {
  for (int rank = 0; rank < size(); ++rank) {
    const int place = place_of(rank);
    EFLOPS_CHECK(place >= 0 && place < size() && ranks_[static_cast<std::size_t>(place)] == -1,
                 "rank {} at place {} is no bijection of {}", rank, place, size());
    ranks_[static_cast<std::size_t>(place)] = rank;
  }
}

RankMap RankMap::in_order(int ranks) { return RankMap(in_a_row(ranks)); }

RankMap RankMap::round_robin(int ranks, int servers) {
  if (servers < 1 || ranks % servers != 0) {
    throw ConfigError("rank map round-robin: {} servers do not divide {} ranks", servers, ranks);
  }
  const int slots = ranks / servers;
  std::vector<int> places;
  for (int rank = 0; rank < ranks; ++rank) places.push_back((rank % servers) * slots + rank / servers);
  return RankMap(std::move(places));
}

RankMap RankMap::random(int ranks, std::uint64_t seed) {
  std::vector<int> places = in_a_row(ranks);
  Random random(seed, Purpose::RankOrder);
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random.below(i)]);
  return RankMap(std::move(places));
}

RankMap RankMap::hdrm(int slots, int switches) {
  if (!is_power_of_two(slots) || !is_power_of_two(switches) || switches < 2) {
    throw ConfigError(
        "rank map hdrm: needs powers of two, at least 2 switches and 1 end point on each; not {} switches "
        "with {} end points",
        switches, slots);
  }
  const int half = switches / 2;
  std::vector<int> places;
  for (int rank = 0; rank < slots * switches; ++rank) {
    const int slot = rank / switches;
    const int index = (rank % switches) / 2;
    const bool lower = std::popcount(static_cast<unsigned>(rank)) % 2 == 1;
    const int which = lower ? half + index : (index + slot) % half;
    places.push_back(which * slots + slot);
  }
  return RankMap(std::move(places));
}

RankMap RankMap::from_file(const std::string& path, int ranks) {
  std::vector<int> places;
  std::vector<int> line_of(static_cast<std::size_t>(ranks), 0);
  const std::string content = read_file(path);
  int line = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    std::string_view text(content.data() + begin, end - begin);
    begin = end + 1;
    ++line;
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t')) text.remove_suffix(1);
    if (text.empty() || text.front() == '#') continue;
    int place = -1;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), place);
    if (error != std::errc() || stop != text.data() + text.size() || place < 0 || place >= ranks) {
      throw DataError("{}:{}: '{}' is no place; expected a number from 0 to {}", path, line, text, ranks - 1);
    }
    int& first_line = line_of[static_cast<std::size_t>(place)];
    if (first_line != 0) throw DataError("{}:{}: place {} stands in line {} too", path, line, place, first_line);
    first_line = line;
    places.push_back(place);
  }
  if (static_cast<int>(places.size()) != ranks) {
    throw DataError("{}: {} places for {} ranks; one a line for each rank", path, places.size(), ranks);
  }
  return RankMap(std::move(places));
}

bool RankMap::is_identity() const { return std::is_sorted(places_.begin(), places_.end()); }

RankSchedule placed(const Problem& problem, RankSchedule list, const RankMap& map) {
  EFLOPS_CHECK(map.size() == problem.ranks, "a map of {} for {} ranks", map.size(), problem.ranks);
  if (map.is_identity()) return list;
  if (problem.collective != Collective::Allreduce && problem.collective != Collective::Broadcast) {
    throw ConfigError("{} has a block for each rank, so it takes no rank map but in-order",
                      collective_name(problem.collective));
  }
  for (Transfer& transfer : list.transfers) transfer.peer = map.place_of(transfer.peer);
  return list;
}

}  // namespace eflops::coll
