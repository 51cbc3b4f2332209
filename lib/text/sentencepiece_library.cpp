#include "text/sentencepiece_library.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <unordered_map>

#include "base/error.h"

namespace eflops::text {

struct SentencePieceModel::Library {
  sentencepiece::SentencePieceProcessor processor;
};

SentencePieceModel::SentencePieceModel(std::string bytes, std::string_view where)
    : bytes_(std::move(bytes)), library_(std::make_unique<Library>()) {
  const auto status = library_->processor.LoadFromSerializedProto(bytes_);
  if (!status.ok()) throw DataError("{}: not a SentencePiece model ({})", where, status.ToString());
}

SentencePieceModel::~SentencePieceModel() = default;
SentencePieceModel::SentencePieceModel(SentencePieceModel&&) noexcept = default;
SentencePieceModel& SentencePieceModel::operator=(SentencePieceModel&&) noexcept = default;

std::vector<SentencePieceModel::Span> SentencePieceModel::encode(std::string_view utf8) const {
  const auto result = library_->processor.EncodeAsImmutableProto(utf8);
  std::vector<Span> spans;
  spans.reserve(result.pieces_size());
  for (const auto& piece : result.pieces())
    spans.push_back({static_cast<std::int32_t>(piece.id()), piece.begin(), piece.end()});
  return spans;
}

void SentencePieceModel::encode_ids(std::string_view utf8, std::vector<std::int32_t>& out) const {
  std::vector<int> ids;
  const auto status = library_->processor.Encode(utf8, &ids);
  EFLOPS_CHECK(status.ok(), "SentencePiece: {}", status.ToString());
  out.insert(out.end(), ids.begin(), ids.end());
}

std::string SentencePieceModel::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  const auto status = library_->processor.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  EFLOPS_CHECK(status.ok(), "SentencePiece: {}", status.ToString());
  return text;
}

std::int32_t SentencePieceModel::size() const { return library_->processor.GetPieceSize(); }

std::string_view SentencePieceModel::piece(std::int32_t id) const {
  EFLOPS_CHECK(id >= 0 && id < size(), "piece {} of {}", id, size());
  return library_->processor.IdToPiece(id);
}

std::int32_t SentencePieceModel::find(std::string_view name) const {
  const std::int32_t id = library_->processor.PieceToId(name);
  return id >= 0 && id < size() && piece(id) == name ? id : -1;
}

bool SentencePieceModel::is_special(std::int32_t id) const {
  EFLOPS_CHECK(id >= 0 && id < size(), "piece {} of {}", id, size());
  const auto& processor = library_->processor;
  return processor.IsControl(id) || processor.IsUnknown(id) || processor.IsUnused(id);
}

std::int32_t SentencePieceModel::pad_id() const { return library_->processor.pad_id(); }
std::int32_t SentencePieceModel::unknown_id() const { return library_->processor.unk_id(); }
std::int32_t SentencePieceModel::begin_id() const { return library_->processor.bos_id(); }
std::int32_t SentencePieceModel::end_id() const { return library_->processor.eos_id(); }

namespace {

class PulledSentences final : public sentencepiece::SentenceIterator {
 public:
  explicit PulledSentences(const std::function<bool(std::string&)>& next) : next_(next) { Next(); }
  bool done() const override { return done_; }
  void Next() override { done_ = !next_(value_); }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::function<bool(std::string&)>& next_;
  std::string value_;
  bool done_ = false;
};

}  // namespace

std::string run_sentencepiece_trainer(const std::vector<std::pair<std::string, std::string>>& options,
                                      const std::function<bool(std::string&)>& next_sentence) {
  PulledSentences sentences(next_sentence);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      std::unordered_map<std::string, std::string>(options.begin(), options.end()), &sentences, &model);
  if (!status.ok()) throw DataError("SentencePiece could not train: {}", status.ToString());
  return model;
}

}  // namespace eflops::text
