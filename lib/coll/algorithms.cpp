#include "coll/algorithms.h"

#include <algorithm>

#include "base/error.h"
#include "coll/all_to_all.h"
#include "coll/broadcast.h"
#include "coll/direct.h"
#include "coll/double_tree.h"
#include "coll/halving_doubling.h"
#include "coll/hierarchical.h"
#include "coll/ring.h"

namespace eflops::coll {
namespace {

std::optional<std::string> takes_all(const Problem&) { return std::nullopt; }

std::optional<std::string> needs_power_of_two(const Problem& problem) {
  if (is_power_of_two(problem.ranks)) return std::nullopt;
  return fmt::format("needs a power of two of ranks, not {}", problem.ranks);
}

std::optional<std::string> needs_equal_blocks(const Problem& problem) {
  if (problem.elements % problem.ranks == 0) return std::nullopt;
  return fmt::format("needs a multiple of {} elements (one block for each rank), not {}", problem.ranks,
                     problem.elements);
}

std::optional<std::string> needs_whole_servers(const Problem& problem) {
  if (problem.group_size < 1 || problem.ranks % problem.group_size != 0) {
    return fmt::format("needs servers of equal size: group_size {} does not divide {} ranks", problem.group_size,
                       problem.ranks);
  }
  if (problem.inner == "hierarchical") return "cannot be its own inner algorithm; take e.g. inner: ring";
  Problem between = problem;
  between.ranks = problem.ranks / problem.group_size;
  return algorithm(Collective::Allreduce, problem.inner).refuses(between);
}

constexpr Algorithm kAlgorithms[] = {
    {"ring", Collective::Allreduce, "2(p-1) steps, the least bytes; best for large data on any network", ring_allreduce,
     takes_all},
    {"segmented-ring", Collective::Allreduce, "the ring, reduced segment by segment to stay in cache",
     segmented_ring_allreduce, takes_all},
    {"recursive-doubling", Collective::Allreduce, "log2 p steps of all the data; best for small data",
     recursive_doubling_allreduce, takes_all},
    {"halving-doubling", Collective::Allreduce, "2 log2 p steps, the least bytes; nearest partner first (HDRM's order)",
     halving_doubling_allreduce, takes_all},
    {"halving-doubling-far", Collective::Allreduce, "2 log2 p steps, the least bytes; farthest partner first",
     halving_doubling_far_allreduce, takes_all},
    {"double-tree", Collective::Allreduce, "two binary trees, each with half of the data; pipelined by segments",
     double_tree_allreduce, takes_all},
    {"direct", Collective::Allreduce, "everyone to everyone, 2 steps; best inside a server", direct_allreduce,
     takes_all},
    {"hierarchical", Collective::Allreduce, "inside servers, between servers (`inner`), inside servers",
     hierarchical_allreduce, needs_whole_servers},
    {"ring", Collective::ReduceScatter, "p-1 steps, the least bytes", ring_reduce_scatter, takes_all},
    {"halving", Collective::ReduceScatter, "log2 p steps, the least bytes; powers of two only", halving_reduce_scatter,
     needs_power_of_two},
    {"direct", Collective::ReduceScatter, "everyone to everyone, 1 step", direct_reduce_scatter, takes_all},
    {"ring", Collective::AllGather, "p-1 steps, the least bytes", ring_all_gather, takes_all},
    {"doubling", Collective::AllGather, "log2 p steps, the least bytes; powers of two only", doubling_all_gather,
     needs_power_of_two},
    {"direct", Collective::AllGather, "everyone to everyone, 1 step", direct_all_gather, takes_all},
    {"binomial", Collective::Broadcast, "log2 p steps of all the data; best for small data", binomial_broadcast,
     takes_all},
    {"scatter-ring", Collective::Broadcast, "blocks scattered, then gathered by a ring; best for large data",
     scatter_ring_broadcast, takes_all},
    {"pairwise", Collective::AllToAll, "p-1 steps, the least bytes; best for large blocks", pairwise_all_to_all,
     needs_equal_blocks},
    {"bruck", Collective::AllToAll, "log2 p steps of half the data; best for small blocks", bruck_all_to_all,
     needs_equal_blocks},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

std::vector<std::string_view> algorithm_names(Collective collective) {
  std::vector<std::string_view> names;
  for (const Algorithm& candidate : kAlgorithms) {
    if (candidate.collective == collective) names.push_back(candidate.name);
  }
  return names;
}

const Algorithm& algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& candidate : kAlgorithms) {
    if (candidate.collective == collective && candidate.name == name) return candidate;
  }
  throw ConfigError("{} has no algorithm '{}'; there are {}", collective_name(collective), name,
                    fmt::join(algorithm_names(collective), ", "));
}

void check_problem(const Algorithm& algorithm, const Problem& problem) {
  EFLOPS_CHECK(algorithm.collective == problem.collective, "{} for {}", collective_name(algorithm.collective),
               collective_name(problem.collective));
  if (problem.ranks < 1) throw ConfigError("ranks: {} is not a number of ranks; at least 1", problem.ranks);
  if (problem.elements < 0) throw ConfigError("elements: {} is negative", problem.elements);
  if (problem.segment_elements < 0) {
    throw ConfigError("segment_elements: {} is negative; 0 means: not cut", problem.segment_elements);
  }
  if (problem.root < 0 || problem.root >= problem.ranks) {
    throw ConfigError("root: there is no rank {} among {} (0 to {})", problem.root, problem.ranks, problem.ranks - 1);
  }
  if (const std::optional<std::string> reason = algorithm.refuses(problem)) {
    throw ConfigError("{} by {} {}", collective_name(algorithm.collective), algorithm.name, *reason);
  }
}

std::vector<RankSchedule> build_all(const Algorithm& algorithm, const Problem& problem) {
  check_problem(algorithm, problem);
  std::vector<RankSchedule> lists;
  lists.reserve(static_cast<std::size_t>(problem.ranks));
  for (int rank = 0; rank < problem.ranks; ++rank) lists.push_back(algorithm.build(problem, rank));
  return lists;
}

}  // namespace eflops::coll
