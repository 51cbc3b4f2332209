#include "data/corpus.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "data/shard.h"
#include "data/shard_manifest.h"

namespace eflops::data {
namespace {

template <typename Get>
std::int64_t sum(const std::vector<std::shared_ptr<const Shard>>& shards, Get get) {
  std::uint64_t total = 0;
  for (const auto& shard : shards) total += get(shard->header());
  return static_cast<std::int64_t>(total);
}

void require_same_tokenizer(const Shard& first, const Shard& other) {
  if (first.header().tokenizer_hash == other.header().tokenizer_hash &&
      first.header().vocabulary_size == other.header().vocabulary_size)
    return;
  throw ConfigError("{} ({}) and {} ({}) were made with different vocabularies; shard one of them again", first.name(),
                    first.description(), other.name(), other.description());
}

}  // namespace

Corpus::Corpus(const std::vector<std::filesystem::path>& shards_or_folders) {
  if (shards_or_folders.empty()) throw ConfigError("no shards given; make some with eflops-data shard");
  std::set<std::filesystem::path> seen;
  for (const auto& given : shards_or_folders) {
    for (const auto& file : shard_files(given)) {
      if (!seen.insert(std::filesystem::weakly_canonical(file)).second)
        throw ConfigError("{} is given twice: its sentences would count double", file.string());
      shards_.push_back(std::make_shared<const Shard>(file));
      require_same_tokenizer(*shards_.front(), *shards_.back());
      document_starts_.push_back(document_starts_.back() +
                                 static_cast<std::int64_t>(shards_.back()->header().documents));
    }
  }
  if (document_count() == 0) throw DataError("{}: no documents", shards_or_folders.front().string());
}

Corpus Corpus::from_documents(const std::vector<std::vector<std::vector<std::int32_t>>>& documents,
                              std::int32_t vocabulary_size) {
  Corpus corpus;
  corpus.shards_.push_back(std::make_shared<const Shard>(documents, vocabulary_size));
  corpus.document_starts_.push_back(static_cast<std::int64_t>(documents.size()));
  return corpus;
}

Corpus::Place Corpus::place(std::int64_t document) const {
  EFLOPS_CHECK(document >= 0 && document < document_count(), "document {} of {}", document, document_count());
  const auto after = std::ranges::upper_bound(document_starts_, document);
  const auto index = static_cast<std::size_t>(after - document_starts_.begin() - 1);
  return {shards_[index].get(), document - document_starts_[index]};
}

std::int64_t Corpus::sentence_count(std::int64_t document) const {
  const Place at = place(document);
  return at.shard->sentence_count(at.document);
}

std::int64_t Corpus::sentence_length(std::int64_t document, std::int64_t sentence) const {
  const Place at = place(document);
  return at.shard->sentence_length(at.document, sentence);
}

void Corpus::append_sentence(std::int64_t document, std::int64_t sentence, std::vector<std::int32_t>& out) const {
  const Place at = place(document);
  at.shard->append_sentence(at.document, sentence, out);
}

std::int64_t Corpus::token_count() const {
  return sum(shards_, [](const ShardHeader& h) { return h.tokens; });
}
std::int64_t Corpus::total_sentences() const {
  return sum(shards_, [](const ShardHeader& h) { return h.sentences; });
}
std::int32_t Corpus::vocabulary_size() const {
  return static_cast<std::int32_t>(shards_.front()->header().vocabulary_size);
}
std::uint64_t Corpus::tokenizer_hash() const { return shards_.front()->header().tokenizer_hash; }
const std::string& Corpus::tokenizer_description() const { return shards_.front()->description(); }

std::uint64_t Corpus::hash() const {
  std::vector<std::uint64_t> checksums;
  for (const auto& shard : shards_) checksums.push_back(shard->header().header_checksum);
  return hash64(std::as_bytes(std::span(checksums)));
}

void Corpus::verify() const {
  for (const auto& shard : shards_) shard->verify();
}

}  // namespace eflops::data
