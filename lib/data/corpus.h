#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace eflops::data {

class Shard;

/// Tokenised text: documents of sentences of token ids, read through memory maps, so that its size is bounded by the
/// disk and not by memory. Documents are numbered over all shards in the order given; every document has a sentence and
/// every sentence a token. Reading is const and thread-safe. Copies share the maps.
class Corpus {
 public:
  /// Opens shard files, or folders written by `eflops-data shard`, in the order given. Checks headers, sizes and
  /// document borders; token data are checked by verify(). DataError on a damaged or missing file, ConfigError on
  /// shards of different vocabularies, or when a shard is given twice.
  explicit Corpus(const std::vector<std::filesystem::path>& shards_or_folders);

  /// The same interface over documents held in memory: documents[d][s] are the ids of sentence s. For tests and
  /// synthetic data; no document or sentence may be empty and every id must lie in [0, vocabulary_size).
  static Corpus from_documents(const std::vector<std::vector<std::vector<std::int32_t>>>& documents,
                               std::int32_t vocabulary_size);

  std::int64_t document_count() const { return document_starts_.back(); }
  std::int64_t sentence_count(std::int64_t document) const;
  /// In tokens, without special ones.
  std::int64_t sentence_length(std::int64_t document, std::int64_t sentence) const;
  /// Appends the ids of one sentence. DataError when the file is damaged there (an id beyond the vocabulary).
  void append_sentence(std::int64_t document, std::int64_t sentence, std::vector<std::int32_t>& out) const;

  std::int64_t token_count() const;
  std::int64_t total_sentences() const;
  std::int32_t vocabulary_size() const;
  /// Hash of the tokenizer that made the ids; 0 for from_documents.
  std::uint64_t tokenizer_hash() const;
  /// What the tokenizer was, for people: "wordpiece uncased, 30522 pieces"; empty for from_documents.
  const std::string& tokenizer_description() const;
  /// Identity of the content and of its order; two corpora with equal hashes give equal sentences.
  std::uint64_t hash() const;

  /// Reads every byte and compares the checksums. DataError names the first damaged file and section.
  void verify() const;

 private:
  Corpus() = default;
  struct Place {
    const Shard* shard;
    std::int64_t document;
  };
  Place place(std::int64_t document) const;

  std::vector<std::shared_ptr<const Shard>> shards_;
  std::vector<std::int64_t> document_starts_{0};  ///< first document of each shard, and the total
};

}  // namespace eflops::data
