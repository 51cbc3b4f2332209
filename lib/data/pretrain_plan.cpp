#include "data/pretrain_plan.h"

#include <atomic>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"

namespace eflops::data {
namespace {

constexpr std::int64_t kDocumentsPerTask = 64;
constexpr std::int64_t kMaxCount = std::numeric_limits<std::uint32_t>::max();  // of documents, and of sentences in one

std::int64_t draw_target(const ObjectiveOptions& options, Random& random) {
  const std::int64_t budget = text_budget(options);
  if (random.uniform() >= options.short_seq_prob) return budget;
  return 2 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(budget - 1)));
}

/// Walks one document and gives its instances to `emit` in text order.
template <typename Emit>
class DocumentCutter {
 public:
  DocumentCutter(const Corpus& corpus, const ObjectiveOptions& options, Random random, std::int64_t document, Emit emit)
      : corpus_(corpus),
        options_(options),
        random_(random),
        document_(document),
        sentences_(corpus.sentence_count(document)),
        emit_(std::move(emit)) {
    if (sentences_ > kMaxCount)
      throw DataError("document {} has {} sentences; at most {} can be planned", document, sentences_, kMaxCount);
    const bool three_way = options.sentence_task == SentenceTask::ThreeWay;
    random_weight_ = has_random_class(corpus, options) ? options.random_weight : 0;
    previous_weight_ = three_way ? options.previous_weight : 0;
  }

  void cut() {
    const std::int64_t target = draw_target(options_, random_);
    std::int64_t first = 0;
    while (first < sentences_) {
      std::int64_t length = 0;
      std::int64_t end = first;
      while (end < sentences_ && length < target) length += corpus_.sentence_length(document_, end++);
      first = options_.sentence_task == SentenceTask::None ? emit_single(first, end) : emit_pair(first, end);
    }
  }

  std::int64_t forced_random() const { return forced_random_; }
  std::int64_t skipped_sentences() const { return skipped_sentences_; }

 private:
  std::int64_t emit_single(std::int64_t first, std::int64_t end) {
    emit(first, end - first, 0, PairClass::Single);
    return end;
  }

  /// Makes an instance of chunk [first, end) and returns the sentence to go on with.
  std::int64_t emit_pair(std::int64_t first, std::int64_t end) {
    const std::int64_t count = end - first;
    const PairClass drawn = draw_class();
    if (count == 1) return emit_lone(first, drawn);
    const std::int64_t a = 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(count - 1)));
    if (drawn == PairClass::Random) {
      emit(first, a, 0, drawn);
      return first + a;  // what was meant for the second segment is put back
    }
    emit(first, a, count - a, drawn);
    return end;
  }

  std::int64_t emit_lone(std::int64_t at, PairClass drawn) {
    const bool forced = options_.pair_sampling == PairSampling::Google || sentences_ == 1;
    if (drawn == PairClass::Random || (forced && random_weight_ > 0)) {
      forced_random_ += drawn != PairClass::Random;
      emit(at, 1, 0, PairClass::Random);
      return at + 1;
    }
    if (sentences_ == 1) {
      ++skipped_sentences_;
      return at + 1;
    }
    const bool at_end = at + 1 == sentences_;
    emit(at_end ? at - 1 : at, 1, 1, drawn);
    return at_end ? at + 1 : at + 2;
  }

  PairClass draw_class() {
    double draw = random_.uniform() * (random_weight_ + options_.next_weight + previous_weight_);
    if (draw < random_weight_) return PairClass::Random;
    draw -= random_weight_;
    return draw < options_.next_weight || previous_weight_ == 0 ? PairClass::Next : PairClass::Previous;
  }

  void emit(std::int64_t first, std::int64_t a, std::int64_t b, PairClass pair_class) {
    InstanceDescriptor made{.document = static_cast<std::uint32_t>(document_),
                            .first = static_cast<std::uint32_t>(first)};
    made.a_sentences = static_cast<std::uint32_t>(a) & 0x7FFFU;
    made.b_sentences = static_cast<std::uint32_t>(b) & 0x7FFFU;
    made.class_id = static_cast<std::uint32_t>(pair_class) & 3U;
    emit_(made);
  }

  const Corpus& corpus_;
  const ObjectiveOptions& options_;
  Random random_;
  std::int64_t document_;
  std::int64_t sentences_;
  Emit emit_;
  double random_weight_ = 0;
  double previous_weight_ = 0;
  std::int64_t forced_random_ = 0;
  std::int64_t skipped_sentences_ = 0;
};

void for_documents(std::int64_t documents, PlanThreads threads, const std::function<void(std::int64_t)>& body) {
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t document = begin; document < end; ++document) body(document);
  };
  if (threads == PlanThreads::Pool)
    parallel_for(documents, kDocumentsPerTask, range);
  else
    range(0, documents);
}

void count_classes(EpochPlan& plan) {
  for (const InstanceDescriptor& instance : plan.instances) {
    switch (instance.pair_class()) {
      case PairClass::Random:
        ++plan.counts.random;
        break;
      case PairClass::Next:
        ++plan.counts.next;
        break;
      case PairClass::Previous:
        ++plan.counts.previous;
        break;
      case PairClass::Single:
        ++plan.counts.single;
        break;
    }
  }
}

}  // namespace

std::int64_t text_budget(const ObjectiveOptions& options) {
  return options.max_seq_length - (options.sentence_task == SentenceTask::None ? 2 : 3);
}

std::int64_t target_length(const ObjectiveOptions& options, std::uint64_t seed, std::int64_t epoch,
                           std::int64_t document) {
  Random random(seed, Purpose::Chunking, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(document));
  return draw_target(options, random);
}

bool has_random_class(const Corpus& corpus, const ObjectiveOptions& options) {
  // BERT's own code takes a random segment of the same document when there is no other; a third class cannot be faked
  // so.
  return corpus.document_count() > 1 || options.sentence_task == SentenceTask::NextSentence;
}

EpochPlan plan_epoch(const Corpus& corpus, const ObjectiveOptions& options, std::uint64_t seed, std::int64_t epoch,
                     PlanThreads threads) {
  const std::int64_t documents = corpus.document_count();
  if (documents > kMaxCount)
    throw DataError("the corpus has {} documents; at most {} can be planned", documents, kMaxCount);
  const auto random_of = [&](std::int64_t document) {
    return Random(seed, Purpose::Chunking, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(document));
  };
  EpochPlan plan;
  plan.epoch = epoch;

  // Cut twice, first to learn where the instances of each document go: cheaper than a list per document.
  std::vector<std::int64_t> begins(static_cast<std::size_t>(documents) + 1, 0);
  std::atomic<std::int64_t> forced_random{0};
  std::atomic<std::int64_t> skipped_sentences{0};
  for_documents(documents, threads, [&](std::int64_t document) {
    std::int64_t& count = begins[static_cast<std::size_t>(document) + 1];
    DocumentCutter cutter(corpus, options, random_of(document), document, [&](const InstanceDescriptor&) { ++count; });
    cutter.cut();
    forced_random += cutter.forced_random();
    skipped_sentences += cutter.skipped_sentences();
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  plan.instances.resize(static_cast<std::size_t>(begins.back()));
  for_documents(documents, threads, [&](std::int64_t document) {
    auto at = static_cast<std::size_t>(begins[static_cast<std::size_t>(document)]);
    DocumentCutter cutter(corpus, options, random_of(document), document,
                          [&](const InstanceDescriptor& made) { plan.instances[at++] = made; });
    cutter.cut();
  });
  count_classes(plan);
  plan.counts.forced_random = forced_random;
  plan.counts.skipped_sentences = skipped_sentences;

  Random order(seed, Purpose::EpochOrder, static_cast<std::uint64_t>(epoch));
  for (std::size_t left = plan.instances.size(); left > 1; --left)
    std::swap(plan.instances[left - 1], plan.instances[order.below(left)]);
  return plan;
}

}  // namespace eflops::data
