#pragma once

#include <string>
#include <string_view>

#include "text/sentencepiece_library.h"
#include "text/tokenizer.h"

namespace eflops::text {

/// A SentencePiece model behind our interface. The model holds its own normalisation; bytes that are not UTF-8 are
/// dropped before it, so that offsets count the same code points as those of WordPiece. Special pieces are found by the
/// library's own ids and by name: [PAD] <pad>, [UNK] <unk>, [CLS] <cls> <s>, [SEP] <sep> </s>, [MASK] <mask>.
class SentencePieceTokenizer final : public Tokenizer {
 public:
  /// From the bytes of a .model file; `where` names it in errors.
  SentencePieceTokenizer(std::string model, std::string_view where);

  void encode(std::string_view utf8, std::vector<Token>& out) const override;
  void encode_ids(std::string_view utf8, std::vector<std::int32_t>& out) const override;
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::int32_t size() const override { return model_.size(); }
  std::string_view piece(std::int32_t id) const override { return model_.piece(id); }
  bool continues_word(std::int32_t id) const override;
  SpecialIds specials() const override { return specials_; }
  bool is_special(std::int32_t id) const override;
  std::uint64_t hash() const override;
  std::string description() const override;

  /// The model file.
  const std::string& model_bytes() const { return model_.bytes(); }

 private:
  SentencePieceModel model_;
  SpecialIds specials_;
};

}  // namespace eflops::text
