#pragma once

#include <cstdint>
#include <vector>

#include "data/corpus.h"
#include "data/objective_options.h"

namespace eflops::data {

/// How the second segment of an instance relates to the first in the text. Single: there is no second one.
enum class PairClass : std::uint8_t { Random = 0, Next = 1, Previous = 2, Single = 3 };

/// An instance before its tokens are read, 12 bytes: sentences [first, first + a_sentences) of a document, and the
/// b_sentences after them (0 for Random and Single). Previous exchanges the two.
struct InstanceDescriptor {
  std::uint32_t document = 0;
  std::uint32_t first = 0;
  std::uint32_t a_sentences : 15 = 0;
  std::uint32_t b_sentences : 15 = 0;
  std::uint32_t class_id : 2 = 0;

  PairClass pair_class() const { return static_cast<PairClass>(class_id); }
  bool operator==(const InstanceDescriptor&) const = default;
};

struct PlanCounts {
  std::int64_t random = 0;
  std::int64_t next = 0;
  std::int64_t previous = 0;
  std::int64_t single = 0;
  std::int64_t forced_random = 0;      ///< of `random`: drawn next or previous, but one sentence cannot be cut in two
  std::int64_t skipped_sentences = 0;  ///< lone sentences of a document with nothing to pair them with
};

/// The instances of one epoch in training order.
struct EpochPlan {
  std::int64_t epoch = 0;
  std::vector<InstanceDescriptor> instances = {};
  PlanCounts counts = {};

  std::int64_t size() const { return static_cast<std::int64_t>(instances.size()); }
};

/// Who plans: the pool of base/parallel.h, or the calling thread alone, for callers beside a training loop.
enum class PlanThreads { Pool, Caller };

/// Cuts every document into instances as Google's create_pretraining_data does (chunks up to a target length, first
/// segment uniform, unused sentences put back), draws their classes, and shuffles them. A pure function of its
/// arguments; does not depend on the thread count. `options` must be resolved. Empty when nothing can be made.
/// DataError beyond 2^32 - 1 documents, or sentences in one. Cost: a look at the length of each sentence, about twice.
EpochPlan plan_epoch(const Corpus& corpus, const ObjectiveOptions& options, std::uint64_t seed, std::int64_t epoch,
                     PlanThreads threads);

/// Tokens of text an instance can hold: max_seq_length without [CLS] and one or two [SEP].
std::int64_t text_budget(const ObjectiveOptions& options);

/// Length that the chunks of a document grow to in an epoch: text_budget(), or with short_seq_prob uniform in
/// [2, text_budget()].
std::int64_t target_length(const ObjectiveOptions& options, std::uint64_t seed, std::int64_t epoch,
                           std::int64_t document);

/// False where the text has no second document to take a random segment from and the task needs one (three-way).
bool has_random_class(const Corpus& corpus, const ObjectiveOptions& options);

}  // namespace eflops::data
