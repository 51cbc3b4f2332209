#include "programs/pretrain_data.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "data/shard_manifest.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSynthetic = "synthetic";
constexpr std::int32_t kFirstOrdinary = 5;  // [PAD] [UNK] [CLS] [SEP] [MASK]

std::vector<fs::path> paths_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

// Documents of sentence pairs that fill an instance exactly, so that every sequence has max_seq_length tokens.
data::Corpus synthetic_corpus(const data::ObjectiveOptions& objective, std::int32_t vocabulary, std::uint64_t seed) {
  constexpr int kDocuments = 64;
  constexpr int kSentences = 128;
  const std::int64_t budget = data::text_budget(objective);
  if (budget < 8)
    throw ConfigError("objective.max_seq_length is {}: synthetic text needs at least 16", objective.max_seq_length);
  std::vector<std::vector<std::vector<std::int32_t>>> documents(kDocuments);
  for (std::size_t d = 0; d < documents.size(); ++d) {
    Random random(seed, Purpose::Synthetic, d);
    for (int s = 0; s < kSentences; ++s) {
      const std::int64_t length = s % 2 == 0 ? budget / 2 : budget - budget / 2;
      auto& sentence = documents[d].emplace_back(static_cast<std::size_t>(length));
      for (std::int32_t& id : sentence)
        id = kFirstOrdinary +
             static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary - kFirstOrdinary)));
    }
  }
  return data::Corpus::from_documents(documents, vocabulary);
}

data::TokenRules synthetic_rules(std::int32_t vocabulary) {
  data::TokenRules rules;
  rules.cls = 2;
  rules.sep = 3;
  rules.mask = 4;
  rules.vocabulary_size = vocabulary;
  const auto size = static_cast<std::size_t>(vocabulary);
  rules.fixed.assign(size, false);
  std::fill_n(rules.fixed.begin(), kFirstOrdinary, true);
  rules.continues_word.assign(size, false);
  for (std::int32_t id = kFirstOrdinary; id < vocabulary; ++id) rules.ordinary.push_back(id);
  return rules;
}

// The tokenizer stored beside the first folder of shards.
std::unique_ptr<text::Tokenizer> tokenizer_beside(const std::string& shards) {
  const fs::path given = shards;
  const fs::path folder = fs::is_directory(given) ? given : given.parent_path();
  text::TokenizerOptions options;
  options.vocabulary = (folder / data::kTokenizerFolder).string();
  return text::load_tokenizer(options);
}

void require_same_vocabulary(const data::Corpus& corpus, const text::Tokenizer& tokenizer, const std::string& name) {
  if (corpus.tokenizer_hash() == tokenizer.hash()) return;
  throw DataError("{}: its shards were made with another vocabulary ({}) than the one in use ({})", name,
                  corpus.tokenizer_description(), tokenizer.description());
}

}  // namespace

void PretrainDataOptions::visit_fields(OptionVisitor& v) {
  v("train", train, "folders of shards to learn from (eflops-data shard), or 'synthetic' for pure timing",
    {.aliases = {"data", "train_file"}});
  v("held_out", held_out, "folders of shards to be judged on; never learnt from", {.aliases = {"validation_file"}});
  v("prefetch", prefetch, "batches made ahead in the background",
    {.unit = "batches", .min = 1, .max = 1024, .changes_result = false});
  v("synthetic_vocabulary", synthetic_vocabulary, "vocabulary size of synthetic text",
    {.unit = "pieces", .min = 16, .max = 1e7});
}

PretrainText::PretrainText(const PretrainDataOptions& options, const data::ObjectiveOptions& objective,
                           const PretrainSeeds& seeds) {
  if (options.train.empty())
    throw ConfigError("data.train is empty: name a folder made by 'eflops-data shard', or 'synthetic'");
  if (options.train[0] == kSynthetic) {
    data::ObjectiveOptions full = data::resolved(objective);
    full.short_seq_prob = 0;
    const auto vocabulary = static_cast<std::int32_t>(options.synthetic_vocabulary);
    train_ = std::make_unique<data::PretrainSampler>(synthetic_corpus(full, vocabulary, seeds.train),
                                                     synthetic_rules(vocabulary), full, seeds.train);
    return;
  }
  data::Corpus corpus(paths_of(options.train));
  tokenizer_ = tokenizer_beside(options.train[0]);
  text::require_pretraining_specials(*tokenizer_);
  require_same_vocabulary(corpus, *tokenizer_, options.train[0]);
  const data::TokenRules rules = data::token_rules(*tokenizer_);
  const std::uint64_t train_hash = corpus.hash();
  train_ = std::make_unique<data::PretrainSampler>(std::move(corpus), rules, objective, seeds.train);
  if (options.held_out.empty()) return;
  data::Corpus held_out(paths_of(options.held_out));
  require_same_vocabulary(held_out, *tokenizer_, options.held_out[0]);
  if (held_out.hash() == train_hash)
    throw ConfigError("data.held_out and data.train are the same text: what was learnt must be judged on other text");
  held_out_ = std::make_unique<data::PretrainSampler>(std::move(held_out), rules, objective, seeds.held_out);
}

PretrainLoader::PretrainLoader(const data::PretrainSampler& sampler, const data::BatchCut& cut,
                               data::StreamPosition start, std::int64_t prefetch)
    : stream_(std::make_unique<data::PretrainStream>(sampler, start)) {
  prefetcher_ = std::make_unique<data::Prefetcher<data::PretrainBatch>>(
      [stream = stream_.get(), cut](std::int64_t) { return stream->next(cut); },
      data::PrefetchOptions{.depth = prefetch});
}

}  // namespace eflops::programs
