#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_source_parse.h"
#include "text/tokenizer.h"

namespace eflops::data {

/// The sentences of a chunk as token ids. `documents` has one entry per document the chunk touches, its sentences here
/// (0 is possible); each entry but the last one ends there, the first one goes on with the open document where
/// `continues` says so.
struct EncodedChunk {
  bool continues = false;
  TextCounts counts;
  std::vector<std::uint32_t> documents;
  std::vector<std::uint32_t> sentence_lengths;
  std::vector<std::int32_t> ids;
};

/// Sentences longer than this are counted: BERT's longest input.
inline constexpr std::int64_t kLongSentence = 512;

/// Parses and tokenises; sentences of which no token is left are dropped and counted.
EncodedChunk encode_chunk(const TextChunk& chunk, const TextSourceOptions& options, const text::Tokenizer& tokenizer);

/// Bytes to send between processes of this machine, and back.
std::string pack(const TextChunk& chunk);
std::string pack(const EncodedChunk& chunk);
TextChunk unpack_text(std::string_view bytes);
EncodedChunk unpack_encoded(std::string_view bytes);

}  // namespace eflops::data
