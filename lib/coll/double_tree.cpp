#include "coll/double_tree.h"

#include <algorithm>

#include "coll/steps.h"

namespace eflops::coll {
namespace {

using Tree = TreePlace (*)(int ranks, int position);

int depth_of(Tree tree, int ranks, int position) {
  int depth = 0;
  for (int parent = tree(ranks, position).parent; parent >= 0; parent = tree(ranks, parent).parent) ++depth;
  return depth;
}

int height_of(Tree tree, int ranks) {
  int height = 0;
  for (int position = 0; position < ranks; ++position) height = std::max(height, depth_of(tree, ranks, position));
  return height;
}

/// The reduction of segment k over the edge above depth d runs in round height - d + k; its way back in round
/// height + d - 1 + k. So a node has all its children's data one round before it sends.
int reduce_and_broadcast(Steps& steps, Tree tree, const Problem& problem, int rank, Range range) {
  if (problem.ranks == 1) return 0;
  const TreePlace place = tree(problem.ranks, rank);
  const int height = height_of(tree, problem.ranks);
  const int depth = depth_of(tree, problem.ranks, rank);
  const std::int64_t segment =
      problem.segment_elements > 0 ? problem.segment_elements : std::max<std::int64_t>(range.size(), 1);
  const std::int64_t segments = (range.size() + segment - 1) / segment;
  for (std::int64_t index = 0; index < segments; ++index) {
    const Range part = block_of(range, segments, index);
    const int up = height - depth + static_cast<int>(index);
    const int down = height + depth + static_cast<int>(index);
    for (const int child : place.children) {
      steps.receive(up - 1, child, Kind::Reduce, part);
      steps.send(down, child, part);
    }
    if (place.parent >= 0) {
      steps.send(up, place.parent, part);
      steps.receive(down - 1, place.parent, Kind::Copy, part);
    }
  }
  return 2 * height + static_cast<int>(std::max<std::int64_t>(segments, 1)) - 1;
}

}  // namespace

TreePlace first_tree(int ranks, int position) {
  TreePlace place;
  if (position == 0) {
    if (ranks > 1) place.children.push_back(power_of_two_below(ranks - 1));
    return place;
  }
  const int bit = position & -position;
  const int up = (position ^ bit) | (bit << 1);
  place.parent = up >= ranks ? position ^ bit : up;
  int offset = bit >> 1;
  if (offset > 0) place.children.push_back(position - offset);
  while (offset > 0 && position + offset >= ranks) offset >>= 1;
  if (offset > 0) place.children.push_back(position + offset);
  return place;
}

TreePlace second_tree(int ranks, int position) {
  const bool even = ranks % 2 == 0;
  const auto turned = [&](int p) { return even ? ranks - 1 - p : (p + 1) % ranks; };
  TreePlace place = first_tree(ranks, even ? ranks - 1 - position : (position + ranks - 1) % ranks);
  if (place.parent >= 0) place.parent = turned(place.parent);
  for (int& child : place.children) child = turned(child);
  std::sort(place.children.begin(), place.children.end());
  return place;
}

RankSchedule double_tree_allreduce(const Problem& problem, int rank) {
  Steps steps;
  const int first = reduce_and_broadcast(steps, first_tree, problem, rank, block_of(problem.all(), 2, 0));
  const int second = reduce_and_broadcast(steps, second_tree, problem, rank, block_of(problem.all(), 2, 1));
  return steps.finish(std::max(first, second));
}

}  // namespace eflops::coll
