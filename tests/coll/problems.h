#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coll/algorithms.h"

namespace eflops::coll::test {

/// Element counts at and around every edge of `ranks` blocks.
inline std::vector<std::int64_t> awkward_sizes(int ranks) {
  const std::int64_t p = ranks;
  return {0, 1, p - 1, p, p + 1, 2 * p + 3, 49};
}

/// Every variant of every algorithm for `ranks`: segments and server sizes included.
inline void for_each_problem(int ranks, const std::function<void(const Algorithm&, const Problem&)>& visit) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const std::int64_t size : awkward_sizes(ranks)) {
      Problem problem{.collective = algorithm.collective, .ranks = ranks, .elements = size};
      if (algorithm.collective == Collective::AllToAll) problem.elements = size * ranks;
      std::vector<Problem> variants{problem};
      if (algorithm.name == "segmented-ring" || algorithm.name == "double-tree") {
        variants[0].segment_elements = 3;
        variants.push_back(problem);
      }
      if (algorithm.collective == Collective::Broadcast) {
        variants.push_back(problem);
        variants[1].root = ranks - 1;
      }
      if (algorithm.name == "hierarchical") {
        variants.clear();
        for (int group = 1; group <= ranks; ++group) {
          if (ranks % group != 0) continue;
          for (const std::string_view inner : {"halving-doubling", "ring", "double-tree"}) {
            problem.group_size = group;
            problem.inner = inner;
            problem.segment_elements = inner == "double-tree" ? 2 : 0;
            variants.push_back(problem);
          }
        }
      }
      for (const Problem& variant : variants) {
        if (!algorithm.refuses(variant)) visit(algorithm, variant);
      }
    }
  }
}

inline std::string described(const Algorithm& algorithm, const Problem& problem) {
  return std::string(collective_name(algorithm.collective)) + " " + std::string(algorithm.name) +
         " p=" + std::to_string(problem.ranks) + " n=" + std::to_string(problem.elements) +
         " segment=" + std::to_string(problem.segment_elements) + " group=" + std::to_string(problem.group_size) +
         " root=" + std::to_string(problem.root) + " inner=" + std::string(problem.inner);
}

}  // namespace eflops::coll::test
