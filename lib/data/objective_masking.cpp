#include "data/objective_masking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace eflops::data {
namespace {

/// Positions chosen together: one token, or with whole_word the pieces of a word.
struct Group {
  std::int32_t begin;
  std::int32_t end;
};

std::vector<Group> groups_of(const std::vector<std::int32_t>& tokens, const TokenRules& rules, bool whole_word) {
  std::vector<Group> groups;
  groups.reserve(tokens.size());
  bool open = false;  // the position before belongs to the last group
  for (std::int32_t at = 0; std::cmp_less(at, tokens.size()); ++at) {
    const auto id = static_cast<std::size_t>(tokens[static_cast<std::size_t>(at)]);
    if (rules.fixed[id]) {
      open = false;
    } else if (whole_word && open && rules.continues_word[id]) {
      groups.back().end = at + 1;
    } else {
      groups.push_back({at, at + 1});
      open = true;
    }
  }
  return groups;
}

std::int32_t random_id(const TokenRules& rules, RandomIds ids, Random& random) {
  if (ids == RandomIds::All)
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(rules.vocabulary_size)));
  return rules.ordinary[random.below(rules.ordinary.size())];
}

Prediction replace(std::int32_t& token, std::int32_t position, const TokenRules& rules, const ObjectiveOptions& options,
                   Random& random) {
  const std::int32_t original = token;
  const double draw = random.uniform();
  if (draw < options.mask_share) {
    token = rules.mask;
    return {position, original, PredictionKind::Masked};
  }
  if (draw < options.mask_share + options.random_share) {
    token = random_id(rules, options.random_ids, random);
    return {position, original, PredictionKind::Random};
  }
  return {position, original, PredictionKind::Kept};
}

}  // namespace

std::int64_t mask_count(std::int64_t length, const ObjectiveOptions& options) {
  if (options.mlm_probability == 0) return 0;
  const double share = std::nearbyint(static_cast<double>(length) * options.mlm_probability);
  const std::int64_t limit =
      options.max_predictions > 0 ? options.max_predictions : std::numeric_limits<std::int64_t>::max();
  return std::min(limit, std::max<std::int64_t>(1, static_cast<std::int64_t>(share)));
}

void mask_tokens(std::vector<std::int32_t>& tokens, const TokenRules& rules, const ObjectiveOptions& options,
                 Random& random, std::vector<Prediction>& predictions) {
  std::vector<Group> groups = groups_of(tokens, rules, options.whole_word);
  std::int64_t left = mask_count(static_cast<std::int64_t>(tokens.size()), options);
  // A partial Fisher-Yates: each group drawn is uniform among those not drawn yet.
  for (std::size_t drawn = 0; drawn < groups.size() && left > 0; ++drawn) {
    std::swap(groups[drawn], groups[drawn + random.below(groups.size() - drawn)]);
    const Group group = groups[drawn];
    if (group.end - group.begin > left) continue;
    for (std::int32_t at = group.begin; at < group.end; ++at)
      predictions.push_back(replace(tokens[static_cast<std::size_t>(at)], at, rules, options, random));
    left -= group.end - group.begin;
  }
}

}  // namespace eflops::data
