#include "data/shard_writer.h"

#include <array>

#include "base/error.h"

namespace eflops::data {

ShardWriter::ShardWriter(const std::filesystem::path& file, const TokenizerIdentity& tokenizer)
    : file_(file),
      tokenizer_(tokenizer),
      token_bytes_(token_bytes_for(static_cast<std::uint64_t>(tokenizer.vocabulary_size))) {
  if (tokenizer.vocabulary_size <= 0) throw ConfigError("{}: the vocabulary is empty", file.string());
  file_.write(std::as_bytes(std::span<const ShardHeader>(std::array{ShardHeader{}})));
}

void ShardWriter::add_sentence(std::span<const std::int32_t> ids) {
  EFLOPS_CHECK(!ids.empty(), "an empty sentence");
  for (const std::int32_t id : ids)
    EFLOPS_CHECK(id >= 0 && id < tokenizer_.vocabulary_size, "id {} of {}", id, tokenizer_.vocabulary_size);
  if (token_bytes_ == 2) {
    narrow_.resize(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) narrow_[i] = static_cast<std::uint16_t>(ids[i]);
    write_tokens(std::as_bytes(std::span(narrow_)));
  } else {
    write_tokens(std::as_bytes(ids));
  }
  sentence_starts_.push_back(sentence_starts_.back() + ids.size());
}

void ShardWriter::write_tokens(std::span<const std::byte> bytes) {
  file_.write(bytes);
  token_checksum_.update(bytes);
}

void ShardWriter::end_document() {
  const std::uint64_t end = sentence_starts_.size() - 1;
  if (end > document_starts_.back()) document_starts_.push_back(end);
}

void ShardWriter::pad() {
  constexpr std::array<std::byte, 8> kZeros{};
  file_.write(std::span(kZeros).first(align_to_8(file_.size()) - file_.size()));
}

ShardSection ShardWriter::write_section(std::span<const std::byte> bytes) {
  pad();
  const ShardSection section{file_.size(), bytes.size(), section_checksum(bytes)};
  file_.write(bytes);
  return section;
}

void ShardWriter::commit() {
  end_document();
  std::array<ShardHeader, 1> one;
  ShardHeader& header = one[0];
  header.token_bytes = token_bytes_;
  header.vocabulary_size = static_cast<std::uint64_t>(tokenizer_.vocabulary_size);
  header.tokenizer_hash = tokenizer_.hash;
  header.documents = static_cast<std::uint64_t>(documents());
  header.sentences = static_cast<std::uint64_t>(sentences());
  header.tokens = static_cast<std::uint64_t>(tokens());
  header.token_data = {sizeof header, header.tokens * token_bytes_, token_checksum_.finish()};
  header.document_starts = write_section(std::as_bytes(std::span(document_starts_)));
  header.sentence_starts = write_section(std::as_bytes(std::span(sentence_starts_)));
  header.description = write_section(std::as_bytes(std::span(tokenizer_.description)));
  header.header_checksum = header_checksum(header);
  file_.write_at(0, std::as_bytes(std::span(one)));
  file_.commit();
}

}  // namespace eflops::data
