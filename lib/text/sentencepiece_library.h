#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eflops::text {

/// The one door to the SentencePiece library: a loaded model. Thread-safe once made.
class SentencePieceModel {
 public:
  /// One piece of a text, [begin, end) in bytes of the text.
  struct Span {
    std::int32_t id;
    std::size_t begin;
    std::size_t end;
  };

  /// From the bytes of a .model file; DataError that begins with `where` if they are not one.
  SentencePieceModel(std::string bytes, std::string_view where);
  ~SentencePieceModel();
  SentencePieceModel(SentencePieceModel&&) noexcept;
  SentencePieceModel& operator=(SentencePieceModel&&) noexcept;

  std::vector<Span> encode(std::string_view utf8) const;
  void encode_ids(std::string_view utf8, std::vector<std::int32_t>& out) const;
  std::string decode(std::span<const std::int32_t> ids) const;

  std::int32_t size() const;
  std::string_view piece(std::int32_t id) const;
  /// The id of a piece by name, or -1.
  std::int32_t find(std::string_view piece) const;
  /// Control, unknown or unused: never text.
  bool is_special(std::int32_t id) const;
  std::int32_t pad_id() const;
  std::int32_t unknown_id() const;
  std::int32_t begin_id() const;
  std::int32_t end_id() const;

  /// The model file.
  const std::string& bytes() const { return bytes_; }

 private:
  struct Library;
  std::string bytes_;
  std::unique_ptr<Library> library_;
};

/// Runs the library's trainer over sentences pulled from `next_sentence` (false at the end) with its own options by
/// name; returns the bytes of the model. DataError carries the library's message.
std::string run_sentencepiece_trainer(const std::vector<std::pair<std::string, std::string>>& options,
                                      const std::function<bool(std::string&)>& next_sentence);

}  // namespace eflops::text
