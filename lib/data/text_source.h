#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/line_reader.h"
#include "base/options.h"
#include "data/text_source_format.h"
#include "data/text_source_inputs.h"

namespace eflops::data {

/// What happens to bytes that are not UTF-8: left out and counted, or an error.
enum class InvalidUtf8 { Drop, Fail };

/// Which text to read and how it lies in its files.
struct TextSourceOptions {
  std::vector<std::string> input;  ///< files, folders, patterns, "-"
  TextFormat format = TextFormat::Auto;
  DocumentBorder documents = DocumentBorder::BlankLine;
  std::string text_field = "text";  ///< of JSON lines
  InvalidUtf8 invalid_utf8 = InvalidUtf8::Drop;

  void visit_fields(OptionVisitor& v);
};

/// Some lines of one file, cut between documents where possible. The text is as in the file, without a byte order mark.
struct TextChunk {
  std::string file;
  TextFormat format = TextFormat::Sentences;  ///< never Auto
  std::int64_t first_line = 1;                ///< number of its first line in the file
  bool continues = false;                     ///< begins inside the document that the chunk before it left open
  std::string text;                           ///< whole lines, each ended by '\n'
};

/// Reads files into chunks; memory is bounded by the chunk size and the longest line. The cuts depend on the text and
/// the chunk size alone. Not thread-safe.
class TextSource {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

  explicit TextSource(const TextSourceOptions& options, std::size_t chunk_bytes = kChunkBytes);

  /// The next chunk; false at the end. DataError with file and line for what is not text (NUL bytes, UTF-16, damaged
  /// compression); ConfigError where an option does not apply to a file's format.
  bool next(TextChunk& chunk);

  const std::vector<std::string>& files() const { return inputs_.files; }
  /// Bytes of the files read so far, and of all (0: not known).
  std::uint64_t bytes_read() const;
  std::uint64_t bytes_total() const { return inputs_.bytes; }
  std::int64_t empty_files() const { return empty_files_; }
  std::int64_t files_with_bom() const { return files_with_bom_; }
  /// Files read so far by format, "plain" → 3.
  const std::vector<std::pair<TextFormat, std::int64_t>>& formats() const { return formats_; }

 private:
  bool open_next_file();
  bool next_line(std::string_view& line);
  void check_line(std::string_view line, std::int64_t number) const;
  bool inside_after(std::string_view line) const;
  bool may_cut_inside(std::string_view line, std::size_t size) const;
  void choose_format(const std::string& file);

  TextSourceOptions options_;
  InputFiles inputs_;
  std::size_t chunk_bytes_;
  std::size_t next_file_ = 0;
  std::unique_ptr<archive::LineReader> reader_;  ///< of the file being read
  std::deque<std::string> sample_;               ///< its first lines, read ahead to tell the format
  std::string held_;                             ///< the line of the sample last given out
  TextFormat format_ = TextFormat::Sentences;
  std::int64_t line_number_ = 0;  ///< of the line last given out
  bool inside_document_ = false;
  std::uint64_t bytes_of_finished_files_ = 0;
  std::int64_t empty_files_ = 0;
  std::int64_t files_with_bom_ = 0;
  std::vector<std::pair<TextFormat, std::int64_t>> formats_;
};

}  // namespace eflops::data

template <>
struct eflops::Choices<eflops::data::InvalidUtf8> {
  static constexpr std::pair<eflops::data::InvalidUtf8, std::string_view> kEntries[] = {
      {eflops::data::InvalidUtf8::Drop, "drop"}, {eflops::data::InvalidUtf8::Fail, "fail"}};
};
