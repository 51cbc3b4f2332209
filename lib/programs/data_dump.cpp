#include "programs/data_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/pretrain_sampler.h"
#include "data/shard_manifest.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;
using data::PredictionKind;
using data::PretrainInstance;

constexpr std::array<std::string_view, 4> kClassNames{"random", "next", "previous", "single"};
constexpr std::array<std::string_view, 4> kKindNames{"masked", "random", "kept", "shuffled"};
constexpr std::size_t kLineWidth = 118;

std::string_view class_name(const PretrainInstance& instance) {
  return kClassNames[static_cast<std::size_t>(instance.pair_class)];
}

/// Pieces of one segment, one entry per token, or per marked span.
class SegmentWriter {
 public:
  SegmentWriter(const PretrainInstance& instance, const text::Tokenizer& tokenizer, std::size_t span)
      : instance_(instance), tokenizer_(tokenizer), span_(span) {}

  std::vector<std::string> words(std::int32_t segment) {
    std::vector<std::string> made;
    while (at_ < instance_.tokens.size() && instance_.segments[at_] == segment) {
      const bool predicted = prediction_ < instance_.predicted_positions.size() &&
                             std::cmp_equal(instance_.predicted_positions[prediction_], at_);
      made.push_back(predicted ? marked() : std::string(tokenizer_.piece(instance_.tokens[at_++])));
    }
    return made;
  }

 private:
  std::string marked() {
    if (instance_.predicted_kinds[prediction_] == PredictionKind::Shuffled) return shuffled();
    const PredictionKind kind = instance_.predicted_kinds[prediction_];
    const std::string_view now = tokenizer_.piece(instance_.tokens[at_++]);
    const std::string_view was = tokenizer_.piece(instance_.predicted_labels[prediction_++]);
    return kind == PredictionKind::Kept ? fmt::format("{{{}}}", now) : fmt::format("{{{} -> {}}}", now, was);
  }

  std::string shuffled() {
    std::string now;
    std::string was;
    for (std::size_t n = 0; n < span_ && continues_span(); ++n, ++at_, ++prediction_) {
      now += fmt::format("{}{}", n > 0 ? " " : "", tokenizer_.piece(instance_.tokens[at_]));
      was += fmt::format("{}{}", n > 0 ? " " : "", tokenizer_.piece(instance_.predicted_labels[prediction_]));
    }
    return fmt::format("{{{} -> {}}}", now, was);
  }

  bool continues_span() const {
    return prediction_ < instance_.predicted_positions.size() &&
           std::cmp_equal(instance_.predicted_positions[prediction_], at_) &&
           instance_.predicted_kinds[prediction_] == PredictionKind::Shuffled;
  }

  const PretrainInstance& instance_;
  const text::Tokenizer& tokenizer_;
  std::size_t span_;
  std::size_t at_ = 0;
  std::size_t prediction_ = 0;
};

std::string wrapped(std::string_view head, const std::vector<std::string>& words) {
  std::string text(head);
  std::size_t column = head.size();
  for (const std::string& word : words) {
    if (column + 1 + word.size() > kLineWidth && column > head.size()) {
      text.append("\n").append(head.size(), ' ');
      column = head.size();
    }
    text.append(" ").append(word);
    column += 1 + word.size();
  }
  return text + "\n";
}

std::int64_t count_of(const PretrainInstance& instance, PredictionKind kind) {
  return std::ranges::count(instance.predicted_kinds, kind);
}

std::string instance_json(const PretrainInstance& instance, const text::Tokenizer& tokenizer) {
  Json line;
  line["sample_id"] = instance.sample_id;
  line["class"] = class_name(instance);
  line["sentence_label"] = instance.sentence_label;
  for (const std::int32_t id : instance.tokens) line["tokens"].push_back(tokenizer.piece(id));
  line["ids"] = instance.tokens;
  line["segments"] = instance.segments;
  line["predicted"] = Json::array();
  for (std::size_t p = 0; p < instance.predicted_positions.size(); ++p)
    line["predicted"].push_back({{"position", instance.predicted_positions[p]},
                                 {"label", instance.predicted_labels[p]},
                                 {"token", tokenizer.piece(instance.predicted_labels[p])},
                                 {"kind", kKindNames[static_cast<std::size_t>(instance.predicted_kinds[p])]}});
  line["truncated_tokens"] = instance.truncated_tokens;
  return to_json_line(line) + "\n";
}

std::string plan_text(const data::EpochPlan& plan, const data::Corpus& corpus) {
  const auto share = [&](std::int64_t count) {
    return fmt::format("{} ({:.1f} %)", count, 100.0 * static_cast<double>(count) / static_cast<double>(plan.size()));
  };
  std::string text = fmt::format("epoch {}: {} instances from {} documents, {} sentences, {} tokens\n", plan.epoch,
                                 plan.size(), corpus.document_count(), corpus.total_sentences(), corpus.token_count());
  const data::PlanCounts& counts = plan.counts;
  if (counts.single > 0) return text + fmt::format("no sentence task: every instance is one segment\n");
  text += fmt::format("classes: random {}, next {}, previous {}\n", share(counts.random), share(counts.next),
                      share(counts.previous));
  if (counts.forced_random > 0)
    text += fmt::format("of the random ones, {} were drawn next or previous, but had one sentence only\n",
                        counts.forced_random);
  return text;
}

std::unique_ptr<text::Tokenizer> open_tokenizer(const DumpOptions& options, const data::Corpus& corpus) {
  const fs::path input = options.input.front();
  const fs::path folder = fs::is_directory(input) ? input : input.parent_path();
  text::TokenizerOptions wanted;
  wanted.vocabulary = options.vocabulary.empty() ? (folder / data::kTokenizerFolder).string() : options.vocabulary;
  auto tokenizer = text::load_tokenizer(wanted);
  if (tokenizer->hash() != corpus.tokenizer_hash())
    throw DataError("{}: the shards were made with another vocabulary ({}) than {} ({})", options.input.front(),
                    corpus.tokenizer_description(), wanted.vocabulary, tokenizer->description());
  return tokenizer;
}

}  // namespace

void DumpOptions::visit_fields(OptionVisitor& v) {
  v("input", input, "shards, or folders of shards written by eflops-data shard", {.aliases = {"data"}});
  v("vocabulary", vocabulary, "vocabulary of the shards; empty: the one stored beside the first of them");
  v.group("objective", objective, "how instances are made");
  v("seed", seed, "seed of a run, for the instances it sees", {.min = 0});
  v("epoch", epoch, "epoch of that run, from 0", {.min = 0, .max = 1e6});
  v("first", first, "place in the epoch's order of the first instance shown", {.min = 0});
  v("count", count, "instances shown, fewer at the end of the epoch", {.min = 0});
  v("format", format, "text for people, or a JSON object a line");
}

std::string instance_text(const PretrainInstance& instance, const text::Tokenizer& tokenizer,
                          const data::ObjectiveOptions& options) {
  const std::string label =
      instance.sentence_label < 0 ? "no sentence label" : fmt::format("label {}", instance.sentence_label);
  std::string text = fmt::format("sample {}: {} ({}), {} tokens", instance.sample_id, class_name(instance), label,
                                 instance.tokens.size());
  if (instance.truncated_tokens > 0) text += fmt::format(", {} cut off", instance.truncated_tokens);
  text += fmt::format("\n  predicts {}: {} masked, {} replaced, {} kept, {} shuffled\n",
                      instance.predicted_positions.size(), count_of(instance, PredictionKind::Masked),
                      count_of(instance, PredictionKind::Random), count_of(instance, PredictionKind::Kept),
                      count_of(instance, PredictionKind::Shuffled));
  SegmentWriter writer(instance, tokenizer, static_cast<std::size_t>(options.shuffle_span));
  text += wrapped("  A", writer.words(0));
  if (const auto second = writer.words(1); !second.empty()) text += wrapped("  B", second);
  return text;
}

void run_dump(const DumpOptions& options) {
  if (options.input.empty()) throw ConfigError("input is empty: name a folder made by 'eflops-data shard'");
  const data::Corpus corpus({options.input.begin(), options.input.end()});
  const auto tokenizer = open_tokenizer(options, corpus);
  const data::PretrainSampler sampler(corpus, data::token_rules(*tokenizer), options.objective,
                                      static_cast<std::uint64_t>(options.seed));
  const data::EpochPlan plan = sampler.plan(options.epoch);
  if (options.first >= plan.size())
    throw ConfigError("first is {}, but epoch {} has {} instances, 0 ... {}", options.first, options.epoch, plan.size(),
                      plan.size() - 1);
  const std::int64_t end = options.first + std::min(options.count, plan.size() - options.first);
  for (std::int64_t index = options.first; index < end; ++index) {
    const PretrainInstance instance = sampler.make_instance(plan, index);
    const std::string text = options.format == DumpFormat::Json
                                 ? instance_json(instance, *tokenizer)
                                 : instance_text(instance, *tokenizer, sampler.options()) + "\n";
    std::fputs(text.c_str(), stdout);
  }
  if (options.format == DumpFormat::Text) std::fputs(plan_text(plan, corpus).c_str(), stdout);
}

}  // namespace eflops::programs
