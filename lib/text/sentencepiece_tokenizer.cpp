#include "text/sentencepiece_tokenizer.h"

#include <fmt/format.h>

#include <initializer_list>

#include "base/hash.h"
#include "text/unicode.h"

namespace eflops::text {

namespace {

constexpr std::string_view kWordMark = "\u2581";

std::int32_t first_of(const SentencePieceModel& model, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const std::int32_t id = model.find(name); id >= 0) return id;
  return -1;
}

SpecialIds find_special_pieces(const SentencePieceModel& model) {
  const auto choose = [](std::int32_t first, std::int32_t second) { return first >= 0 ? first : second; };
  SpecialIds ids;
  ids.pad = choose(model.pad_id(), first_of(model, {"[PAD]", "<pad>"}));
  ids.unknown = choose(model.unknown_id(), first_of(model, {"[UNK]", "<unk>"}));
  ids.cls = choose(first_of(model, {"[CLS]", "<cls>", "<s>"}), model.begin_id());
  ids.sep = choose(first_of(model, {"[SEP]", "<sep>", "</s>"}), model.end_id());
  ids.mask = first_of(model, {"[MASK]", "<mask>"});
  return ids;
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(std::string model, std::string_view where)
    : model_(std::move(model), where), specials_(find_special_pieces(model_)) {}

void SentencePieceTokenizer::encode(std::string_view utf8, std::vector<Token>& out) const {
  std::string kept;
  if (first_invalid_utf8(utf8) != std::string_view::npos) utf8 = kept = without_invalid_utf8(utf8);
  std::size_t byte = 0;
  std::uint32_t code_point = 0;
  const auto code_point_at = [&](std::size_t target) {  // offsets only grow, but for empty spans that step back
    if (target < byte) byte = 0, code_point = 0;
    code_point += static_cast<std::uint32_t>(count_code_points(utf8.substr(byte, target - byte)));
    byte = target;
    return code_point;
  };
  for (const SentencePieceModel::Span& span : model_.encode(utf8)) {
    const std::uint32_t begin = code_point_at(span.begin);
    out.push_back({span.id, begin, code_point_at(span.end)});
  }
}

void SentencePieceTokenizer::encode_ids(std::string_view utf8, std::vector<std::int32_t>& out) const {
  if (first_invalid_utf8(utf8) != std::string_view::npos)
    model_.encode_ids(without_invalid_utf8(utf8), out);
  else
    model_.encode_ids(utf8, out);
}

std::string SentencePieceTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  std::vector<std::int32_t> stretch;
  const auto add = [&](std::string_view part) {
    if (!text.empty() && !part.empty()) text += ' ';
    text += part;
  };
  const auto flush = [&] {
    if (!stretch.empty()) add(model_.decode(stretch));
    stretch.clear();
  };
  for (const std::int32_t id : ids) {
    if (!is_special(id)) {
      stretch.push_back(id);
      continue;
    }
    flush();
    add(piece(id));
  }
  flush();
  return text;
}

bool SentencePieceTokenizer::continues_word(std::int32_t id) const {
  return !is_special(id) && !piece(id).starts_with(kWordMark);
}

bool SentencePieceTokenizer::is_special(std::int32_t id) const {
  return model_.is_special(id) || id == specials_.pad || id == specials_.unknown || id == specials_.cls ||
         id == specials_.sep || id == specials_.mask;
}

std::uint64_t SentencePieceTokenizer::hash() const { return hash64(model_.bytes()); }

std::string SentencePieceTokenizer::description() const { return fmt::format("sentencepiece, {} pieces", size()); }

}  // namespace eflops::text
