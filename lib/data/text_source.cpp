#include "data/text_source.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace eflops::data {
namespace {

// The first lines of a file, from which its format is told.
constexpr std::size_t kSampleBytes = std::size_t{256} << 10;
constexpr std::size_t kSampleLines = 2000;
// A document is cut inside only when its chunk would become this many times too large; wrapped text only behind the end
// of a sentence, up to the second limit.
constexpr std::size_t kInsideDocument = 4;
constexpr std::size_t kAnywhere = 16;

}  // namespace

void TextSourceOptions::visit_fields(OptionVisitor& v) {
  v("input", input, "text files, folders, patterns, or - for standard input; gzip and zstd are seen by themselves");
  v("format", format,
    "sentences: one a line; plain: a paragraph a line; wrapped: paragraphs over several lines; jsonl; wikiextractor; "
    "auto: "
    "told from the first lines of each file");
  v("documents", documents, "what ends a document in sentences, plain and wrapped text");
  v("text_field", text_field, "field of a JSON line that holds the text", {.aliases = {"json_field", "text_column"}});
  v("invalid_utf8", invalid_utf8, "bytes that are not UTF-8: left out and counted, or an error");
}

TextSource::TextSource(const TextSourceOptions& options, std::size_t chunk_bytes)
    : options_(options), inputs_(expand_inputs(options.input)), chunk_bytes_(chunk_bytes) {
  if (inputs_.skipped > 0)
    log::info("{} files in folders do not end like text and are left out (the first: {}); name them to read them",
              inputs_.skipped, inputs_.first_skipped);
}

void TextSource::check_line(std::string_view line, std::int64_t number) const {
  if (line.find('\0') == std::string_view::npos) return;
  throw DataError("{}:{}: a NUL byte: a binary file or UTF-16; text must be UTF-8", reader_->stream().name(), number);
}

void TextSource::choose_format(const std::string& file) {
  const std::vector<std::string> lines(sample_.begin(), sample_.end());
  format_ = options_.format == TextFormat::Auto ? detect_format(lines) : options_.format;
  const bool own_borders = format_ == TextFormat::JsonLines || format_ == TextFormat::WikiExtractor;
  if (own_borders && options_.documents == DocumentBorder::File)
    throw ConfigError("documents=file does not apply to {}: {} says itself where its documents end", file,
                      choice_name(format_));
  const auto known = std::ranges::find(formats_, format_, &std::pair<TextFormat, std::int64_t>::first);
  if (known == formats_.end())
    formats_.emplace_back(format_, 1);
  else
    ++known->second;
}

bool TextSource::open_next_file() {
  if (next_file_ == inputs_.files.size()) return false;
  reader_ = std::make_unique<archive::LineReader>(inputs_.files[next_file_++]);
  line_number_ = 0;
  inside_document_ = false;
  std::size_t bytes = 0;
  for (std::string_view line; bytes < kSampleBytes && sample_.size() < kSampleLines && reader_->next(line);) {
    if (sample_.empty() && (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF")))
      throw DataError("{}:1: UTF-16; text must be UTF-8 (iconv -f UTF-16 -t UTF-8)", reader_->stream().name());
    if (sample_.empty() && line.starts_with("\xEF\xBB\xBF")) {
      ++files_with_bom_;
      line.remove_prefix(3);
    }
    check_line(line, reader_->line_number());
    sample_.emplace_back(line);
    bytes += line.size() + 1;
  }
  if (std::ranges::all_of(sample_, [](const std::string& line) { return trimmed(line).empty(); }) &&
      bytes < kSampleBytes && sample_.size() < kSampleLines)
    ++empty_files_;
  else
    choose_format(reader_->stream().name());
  return true;
}

bool TextSource::next_line(std::string_view& line) {
  if (!sample_.empty()) {
    held_ = std::move(sample_.front());
    sample_.pop_front();
    line = held_;
  } else {
    if (!reader_->next(line)) return false;
    check_line(line, reader_->line_number());
  }
  ++line_number_;
  return true;
}

bool TextSource::inside_after(std::string_view line) const {
  switch (format_) {
    case TextFormat::JsonLines:
      return false;
    case TextFormat::WikiExtractor:
      return trimmed(line).starts_with("<doc ") || (inside_document_ && trimmed(line) != "</doc>");
    default:
      return options_.documents == DocumentBorder::File || !trimmed(line).empty();
  }
}

bool TextSource::may_cut_inside(std::string_view line, std::size_t size) const {
  if (size < kInsideDocument * chunk_bytes_) return false;
  if (format_ == TextFormat::WikiExtractor) return !trimmed(line).starts_with("<doc ");  // its title follows
  if (format_ == TextFormat::Wrapped && size < kAnywhere * chunk_bytes_)
    return trimmed(line).empty() || ends_with_stop(line);
  return true;
}

bool TextSource::next(TextChunk& chunk) {
  for (;;) {
    if (!reader_ && !open_next_file()) return false;
    chunk = {.file = reader_->stream().name(),
             .format = format_,
             .first_line = line_number_ + 1,
             .continues = inside_document_,
             .text = {}};
    for (std::string_view line; next_line(line);) {
      chunk.text.append(line).push_back('\n');
      inside_document_ = inside_after(line);
      const std::size_t size = chunk.text.size();
      if (inside_document_ ? may_cut_inside(line, size) : size >= chunk_bytes_) return true;
    }
    bytes_of_finished_files_ += reader_->stream().file_size();
    reader_.reset();
    if (!chunk.text.empty()) return true;
  }
}

std::uint64_t TextSource::bytes_read() const {
  return bytes_of_finished_files_ + (reader_ ? reader_->stream().file_offset() : 0);
}

}  // namespace eflops::data
