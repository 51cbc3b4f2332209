#include "data/shard.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace eflops::data {
namespace {

std::span<const std::uint64_t> as_starts(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint64_t*>(bytes.data()), bytes.size() / sizeof(std::uint64_t)};
}

ShardHeader read_header(const std::string& name, std::span<const std::byte> bytes) {
  ShardHeader header;
  if (bytes.size() < sizeof header)
    throw DataError("{}: not a shard: {} bytes, a header alone has {}", name, bytes.size(), sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kShardMagic)
    throw DataError("{}: not a shard (wrong first bytes); make shards with eflops-data shard", name);
  if (header.version != kShardVersion)
    throw DataError("{}: shard version {}, this program reads version {}", name, header.version, kShardVersion);
  if (header.header_checksum != header_checksum(header))
    throw DataError("{}: damaged shard: the header does not match its checksum", name);
  return header;
}

}  // namespace

std::span<const std::byte> Shard::section(const ShardSection& section, const char* what,
                                          std::uint64_t expected_bytes) const {
  const std::uint64_t size = map_->bytes().size();
  if (section.bytes != expected_bytes || section.offset % 8 != 0 || section.offset > size ||
      section.bytes > size - section.offset)
    throw DataError("{}: truncated or damaged shard: {} should take {} bytes at {}, the file has {}", name_, what,
                    expected_bytes, section.offset, size);
  return map_->bytes().subspan(section.offset, section.bytes);
}

Shard::Shard(const std::filesystem::path& file)
    : name_(file.string()), map_(MappedFile(file)), header_(read_header(name_, map_->bytes())) {
  const std::uint64_t size = map_->bytes().size();
  const ShardHeader& h = header_;
  if (h.token_bytes != token_bytes_for(h.vocabulary_size) || h.documents > size || h.sentences > size ||
      h.tokens > size || h.vocabulary_size > INT32_MAX)
    throw DataError("{}: truncated or damaged shard: {} documents, {} sentences and {} tokens do not fit {} bytes",
                    name_, h.documents, h.sentences, h.tokens, size);
  if (size != h.description.offset + h.description.bytes)
    throw DataError("{}: truncated or damaged shard: {} bytes, the header says {}", name_, size,
                    h.description.offset + h.description.bytes);
  tokens_ = section(h.token_data, "tokens", h.tokens * h.token_bytes);
  document_starts_ = as_starts(section(h.document_starts, "document starts", (h.documents + 1) * 8));
  sentence_starts_ = as_starts(section(h.sentence_starts, "sentence starts", (h.sentences + 1) * 8));
  const auto description = section(h.description, "description", h.description.bytes);
  description_.assign(reinterpret_cast<const char*>(description.data()), description.size());
  if (section_checksum(std::as_bytes(document_starts_)) != h.document_starts.checksum)
    throw DataError("{}: damaged shard: the document starts do not match their checksum", name_);
  if (section_checksum(description) != h.description.checksum)
    throw DataError("{}: damaged shard: the description does not match its checksum", name_);
  if (document_starts_.front() != 0 || document_starts_.back() != h.sentences ||
      !std::ranges::is_sorted(document_starts_, std::less_equal{}))
    throw DataError("{}: damaged shard: the document starts are not rising from 0 to {}", name_, h.sentences);
  if (sentence_starts_.front() != 0 || sentence_starts_.back() != h.tokens)
    throw DataError("{}: damaged shard: the sentence starts do not run from 0 to {}", name_, h.tokens);
}

Shard::Shard(const std::vector<std::vector<std::vector<std::int32_t>>>& documents, std::int32_t vocabulary_size)
    : name_("documents in memory") {
  std::vector<std::uint64_t> sentence_starts{0};
  owned_starts_.push_back(0);
  for (const auto& document : documents) {
    EFLOPS_CHECK(!document.empty(), "document {} has no sentence", owned_starts_.size() - 1);
    for (const auto& sentence : document) {
      EFLOPS_CHECK(!sentence.empty(), "an empty sentence in document {}", owned_starts_.size() - 1);
      for (const std::int32_t id : sentence) {
        EFLOPS_CHECK(id >= 0 && id < vocabulary_size, "id {} of {}", id, vocabulary_size);
        owned_tokens_.push_back(static_cast<std::uint32_t>(id));
      }
      sentence_starts.push_back(owned_tokens_.size());
    }
    owned_starts_.push_back(sentence_starts.size() - 1);
  }
  header_.token_bytes = 4;
  header_.vocabulary_size = static_cast<std::uint64_t>(vocabulary_size);
  header_.documents = documents.size();
  header_.sentences = sentence_starts.size() - 1;
  header_.tokens = owned_tokens_.size();
  owned_starts_.insert(owned_starts_.end(), sentence_starts.begin(), sentence_starts.end());
  const std::span starts(owned_starts_);
  document_starts_ = starts.first(documents.size() + 1);
  sentence_starts_ = starts.subspan(documents.size() + 1);
  tokens_ = std::as_bytes(std::span(owned_tokens_));
  header_.token_data.checksum = section_checksum(tokens_);
  header_.document_starts.checksum = section_checksum(std::as_bytes(document_starts_));
  header_.sentence_starts.checksum = section_checksum(std::as_bytes(sentence_starts_));
  header_.description.checksum = section_checksum({});
  header_.header_checksum = header_checksum(header_);
}

std::int64_t Shard::sentence_count(std::int64_t document) const {
  const auto d = static_cast<std::uint64_t>(document);
  EFLOPS_CHECK(d < header_.documents, "document {} of {}", document, header_.documents);
  return static_cast<std::int64_t>(document_starts_[d + 1] - document_starts_[d]);
}

Shard::Range Shard::tokens_of(std::int64_t document, std::int64_t sentence) const {
  EFLOPS_CHECK(sentence >= 0 && sentence < sentence_count(document), "sentence {} of {}", sentence,
               sentence_count(document));
  const std::uint64_t s = document_starts_[static_cast<std::uint64_t>(document)] + static_cast<std::uint64_t>(sentence);
  const Range range{sentence_starts_[s], sentence_starts_[s + 1]};
  if (range.begin >= range.end || range.end > header_.tokens)
    throw DataError("{}: damaged shard: sentence {} runs from token {} to {} of {}", name_, s, range.begin, range.end,
                    header_.tokens);
  return range;
}

std::int64_t Shard::sentence_length(std::int64_t document, std::int64_t sentence) const {
  const Range range = tokens_of(document, sentence);
  return static_cast<std::int64_t>(range.end - range.begin);
}

void Shard::append_sentence(std::int64_t document, std::int64_t sentence, std::vector<std::int32_t>& out) const {
  const Range range = tokens_of(document, sentence);
  const std::uint64_t count = range.end - range.begin;
  const std::size_t before = out.size();
  out.resize(before + count);
  std::int32_t* to = out.data() + before;
  if (header_.token_bytes == 2) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(tokens_.data()) + range.begin;
    std::copy_n(from, count, to);
  } else {
    std::memcpy(to, tokens_.data() + range.begin * 4, count * 4);
  }
  std::uint32_t largest = 0;
  for (std::uint64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<std::uint32_t>(to[i]));
  if (largest >= header_.vocabulary_size)
    throw DataError("{}: damaged shard: id {} in sentence {} of document {}, the vocabulary has {}", name_, largest,
                    sentence, document, header_.vocabulary_size);
}

void Shard::verify() const {
  if (section_checksum(tokens_) != header_.token_data.checksum)
    throw DataError("{}: damaged shard: the tokens do not match their checksum", name_);
  if (section_checksum(std::as_bytes(sentence_starts_)) != header_.sentence_starts.checksum)
    throw DataError("{}: damaged shard: the sentence starts do not match their checksum", name_);
  std::vector<std::int32_t> ids;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(header_.documents); ++d) {
    for (std::int64_t s = 0; s < sentence_count(d); ++s) {
      ids.clear();
      append_sentence(d, s, ids);
    }
  }
}

}  // namespace eflops::data
