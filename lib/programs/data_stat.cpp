#include "programs/data_stat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/hash.h"
#include "data/corpus.h"
#include "data/shard_manifest.h"
#include "text/tokenizer.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;

/// How often each length occurs; long ones share the last entry, so that memory stays small.
class Lengths {
 public:
  void add(std::int64_t length) {
    total_ += length;
    longest_ = std::max(longest_, length);
    ++counts_[static_cast<std::size_t>(std::min(length, kMost))];
    ++number_;
  }

  /// Smallest length that a share q of all do not exceed.
  std::string quantile(double q) const {
    const auto wanted = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(number_)));
    std::int64_t seen = 0;
    for (std::int64_t length = 0; length < kMost; ++length)
      if ((seen += counts_[static_cast<std::size_t>(length)]) >= std::max<std::int64_t>(wanted, 1))
        return fmt::format("{}", length);
    return fmt::format(">= {}", kMost);
  }

  std::string text(const char* unit) const {
    return fmt::format("{} {}: mean {:.1f}, median {}, 90 % <= {}, 99 % <= {}, longest {}", number_, unit,
                       static_cast<double>(total_) / static_cast<double>(std::max<std::int64_t>(number_, 1)),
                       quantile(0.5), quantile(0.9), quantile(0.99), longest_);
  }

 private:
  static constexpr std::int64_t kMost = 1 << 16;
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(kMost + 1, 0);
  std::int64_t number_ = 0;
  std::int64_t total_ = 0;
  std::int64_t longest_ = 0;
};

std::unique_ptr<text::Tokenizer> tokenizer_beside(const fs::path& shards) {
  const fs::path folder = (fs::is_directory(shards) ? shards : shards.parent_path()) / data::kTokenizerFolder;
  return fs::exists(folder) ? text::load_tokenizer({.vocabulary = folder.string()}) : nullptr;
}

void print_pieces(const std::vector<std::int64_t>& counts, std::int64_t top, const text::Tokenizer* tokenizer) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  const auto shown = static_cast<std::size_t>(std::min(top, static_cast<std::int64_t>(order.size())));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) { return std::pair(counts[b], a) < std::pair(counts[a], b); });
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  for (std::size_t i = 0; i < shown && counts[order[i]] > 0; ++i) {
    const auto id = static_cast<std::int32_t>(order[i]);
    fmt::print("{:>12}  {:>6.3f} %  {}\n", counts[order[i]],
               100 * static_cast<double>(counts[order[i]]) / static_cast<double>(all),
               tokenizer != nullptr ? std::string(tokenizer->piece(id)) : fmt::format("id {}", id));
  }
}

}  // namespace

void StatOptions::visit_fields(OptionVisitor& v) {
  v("input", input, "folders of shards, or single shards");
  v("top", top, "most frequent pieces to show", {.unit = "pieces", .min = 0, .max = 1'000'000});
}

void run_stat(const StatOptions& options) {
  if (options.input.empty()) throw ConfigError("input is empty: name a folder made by 'eflops-data shard'");
  const data::Corpus corpus({options.input.begin(), options.input.end()});
  const auto tokenizer = tokenizer_beside(options.input.front());
  Lengths documents;
  Lengths sentences;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(corpus.vocabulary_size()), 0);
  std::vector<std::int32_t> ids;
  for (std::int64_t d = 0; d < corpus.document_count(); ++d) {
    documents.add(corpus.sentence_count(d));
    for (std::int64_t s = 0; s < corpus.sentence_count(d); ++s) {
      ids.clear();
      corpus.append_sentence(d, s, ids);
      sentences.add(static_cast<std::int64_t>(ids.size()));
      for (const std::int32_t id : ids) ++counts[static_cast<std::size_t>(id)];
    }
  }
  fmt::print("vocabulary  {}\n", corpus.tokenizer_description());
  fmt::print("tokens      {}\n", corpus.token_count());
  fmt::print("documents   {}\n", documents.text("documents in sentences"));
  fmt::print("sentences   {}\n", sentences.text("sentences in tokens"));
  const auto used = std::ranges::count_if(counts, [](std::int64_t count) { return count > 0; });
  fmt::print("in use      {} of {} pieces\n", used, counts.size());
  if (tokenizer && tokenizer->specials().unknown >= 0)
    fmt::print("unknown     {} tokens\n", counts[static_cast<std::size_t>(tokenizer->specials().unknown)]);
  fmt::print("hash        {}\n", hex64(corpus.hash()));
  print_pieces(counts, options.top, tokenizer.get());
}

}  // namespace eflops::programs
