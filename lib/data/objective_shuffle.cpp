#include "data/objective_shuffle.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace eflops::data {
namespace {

/// Start of every window of `width` positions in one segment none of which is blocked, ascending.
std::vector<std::size_t> window_starts(const std::vector<bool>& blocked, const std::vector<std::int32_t>& segments,
                                       std::size_t width) {
  std::vector<std::size_t> starts;
  std::size_t run = 0;  // free positions of one segment that end at `at`
  for (std::size_t at = 0; at < blocked.size(); ++at) {
    const bool joins = at > 0 && segments[at] == segments[at - 1];
    run = blocked[at] ? 0 : (joins ? run + 1 : 1);
    if (run >= width) starts.push_back(at + 1 - width);
  }
  return starts;
}

/// Uniform over all orders, or over all that move something.
void permute(std::span<std::int32_t> tokens, bool identity_allowed, Random& random) {
  std::vector<std::int32_t> order(tokens.size());
  bool moved = false;
  while (!moved) {
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    moved = identity_allowed || !std::is_sorted(order.begin(), order.end());
  }
  const std::vector<std::int32_t> original(tokens.begin(), tokens.end());
  for (std::size_t i = 0; i < order.size(); ++i) tokens[i] = original[static_cast<std::size_t>(order[i])];
}

std::vector<bool> fixed_positions(const TokenSequence& sequence, const TokenRules& rules) {
  std::vector<bool> fixed(sequence.tokens.size());
  for (std::size_t at = 0; at < fixed.size(); ++at)
    fixed[at] = rules.fixed[static_cast<std::size_t>(sequence.tokens[at])];
  // A token chosen by the MLM may be [MASK] now, but stays a token of the text.
  for (const Prediction& p : sequence.predictions) fixed[static_cast<std::size_t>(p.position)] = false;
  return fixed;
}

void shuffle_disjoint(TokenSequence& sequence, std::vector<bool> blocked, std::int64_t count,
                      const ObjectiveOptions& options, Random& random) {
  const auto width = static_cast<std::size_t>(options.shuffle_span);
  for (const Prediction& p : sequence.predictions) blocked[static_cast<std::size_t>(p.position)] = true;
  std::vector<std::size_t> starts = window_starts(blocked, sequence.segments, width);
  for (; count > 0 && !starts.empty(); --count) {
    const std::size_t start = starts[random.below(starts.size())];
    const auto window = std::span(sequence.tokens).subspan(start, width);
    const std::vector<std::int32_t> original(window.begin(), window.end());
    permute(window, options.shuffle_identity, random);
    for (std::size_t i = 0; i < width; ++i)
      if (options.shuffle_targets == ShuffleTargets::AllPositions || window[i] != original[i])
        sequence.predictions.push_back({static_cast<std::int32_t>(start + i), original[i], PredictionKind::Shuffled});
    std::erase_if(starts, [&](std::size_t s) { return s < start + width && start < s + width; });
  }
}

void shuffle_per_start(TokenSequence& sequence, const std::vector<bool>& fixed, const ObjectiveOptions& options,
                       Random& random) {
  const auto width = static_cast<std::size_t>(options.shuffle_span);
  const auto limit = static_cast<std::size_t>(options.max_predictions);
  std::vector<bool> predicted(fixed.size(), false);
  for (const Prediction& p : sequence.predictions) predicted[static_cast<std::size_t>(p.position)] = true;
  std::vector<std::size_t> starts = window_starts(fixed, sequence.segments, width);
  for (std::size_t i = starts.size(); i > 1; --i) std::swap(starts[i - 1], starts[random.below(i)]);
  for (const std::size_t start : starts) {
    if (limit > 0 && sequence.predictions.size() + width > limit) return;
    if (random.uniform() >= options.shuffle_start_probability) continue;
    const auto window = std::span(sequence.tokens).subspan(start, width);
    const std::vector<std::int32_t> before(window.begin(), window.end());
    permute(window, options.shuffle_identity, random);
    for (std::size_t i = 0; i < width; ++i) {
      if (window[i] == before[i] || predicted[start + i]) continue;
      predicted[start + i] = true;
      sequence.predictions.push_back({static_cast<std::int32_t>(start + i), before[i], PredictionKind::Shuffled});
    }
  }
}

}  // namespace

std::int64_t shuffle_count(std::int64_t ordinary_tokens, std::int64_t masked_tokens, const ObjectiveOptions& options) {
  const std::int64_t counted =
      options.shuffle_reading == ShuffleReading::OfUnmasked ? ordinary_tokens - masked_tokens : ordinary_tokens;
  const double share = std::nearbyint(options.shuffle_share * static_cast<double>(counted));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(share));
}

void shuffle_tokens(TokenSequence& sequence, const TokenRules& rules, const ObjectiveOptions& options, Random& random) {
  std::vector<bool> fixed = fixed_positions(sequence, rules);
  if (options.shuffle_reading == ShuffleReading::PerStart) {
    shuffle_per_start(sequence, fixed, options, random);
    return;
  }
  const auto ordinary = static_cast<std::int64_t>(std::count(fixed.begin(), fixed.end(), false));
  const std::int64_t count = shuffle_count(ordinary, static_cast<std::int64_t>(sequence.predictions.size()), options);
  shuffle_disjoint(sequence, std::move(fixed), count, options, random);
}

}  // namespace eflops::data
