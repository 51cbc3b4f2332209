#include "programs/data_train_vocab.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/stop_signal.h"
#include "data/sharding_encode.h"
#include "data/sharding_pool.h"
#include "data/text_source_parse.h"
#include "text/sentencepiece_trainer.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"
#include "text/word_counts.h"
#include "text/wordpiece_trainer.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;

void check_output(const TrainVocabOptions& options) {
  if (options.output.empty()) throw ConfigError("output is empty: name a folder for the vocabulary");
  if (fs::exists(options.output) && !fs::is_directory(options.output))
    throw ConfigError("output {} is a file; name a folder", options.output);
  if (!options.overwrite && fs::exists(options.output) && !fs::is_empty(options.output))
    throw ConfigError("output {} is not empty; name another folder, or replace its vocabulary with --overwrite",
                      options.output);
}

/// Words and counts of one chunk as bytes: length, word, count, again and again.
std::string pack(const std::vector<std::pair<std::string, std::int64_t>>& words) {
  std::string bytes;
  for (const auto& [word, count] : words) {
    const std::uint64_t sizes[] = {word.size(), static_cast<std::uint64_t>(count)};
    bytes.append(reinterpret_cast<const char*>(sizes), sizeof sizes).append(word);
  }
  return bytes;
}

void add_packed(std::string_view bytes, text::WordCounts& counts) {
  while (!bytes.empty()) {
    std::uint64_t sizes[2];
    std::memcpy(sizes, bytes.data(), sizeof sizes);
    counts.add_word(bytes.substr(sizeof sizes, sizes[0]), static_cast<std::int64_t>(sizes[1]));
    bytes.remove_prefix(sizeof sizes + sizes[0]);
  }
}

class WordSink : public data::SentenceSink {
 public:
  explicit WordSink(text::WordCounts& counts) : counts_(counts) {}
  void sentence(std::string_view text) override { counts_.add_text(text); }
  void end_document() override {}

 private:
  text::WordCounts& counts_;
};

text::WordCounts count_words(const TrainVocabOptions& options) {
  const StopSignal stop;
  const text::WordCounts none({.lower_case = !options.cased, .strip_accents = !options.cased});
  text::WordCounts all = none;
  data::TextSource source(options.text);
  Progress progress("counting words", "B", source.bytes_total());
  data::TextChunk chunk;
  data::map_in_processes(
      {.processes =
           options.processes > 0 ? options.processes : std::max<std::int64_t>(1, std::thread::hardware_concurrency())},
      {.produce =
           [&](std::string& job) {
             if (!source.next(chunk)) return false;
             job = data::pack(chunk);
             return true;
           },
       .work =
           [&](std::string_view job) {
             text::WordCounts counts = none;
             WordSink sink(counts);
             data::TextCounts ignored;
             data::parse_chunk(data::unpack_text(job), options.text, sink, ignored);
             return pack(counts.sorted());
           },
       .consume =
           [&](std::string_view result) {
             add_packed(result, all);
             progress.update(source.bytes_read(), fmt::format("{}words", format_si(static_cast<double>(all.total()))));
           }});
  progress.finish();
  return all;
}

/// Sentences one after the other, a chunk at a time.
class SentenceStream : private data::SentenceSink {
 public:
  explicit SentenceStream(const data::TextSourceOptions& options) : options_(options), source_(options) {}

  bool next(std::string& sentence) {
    data::TextChunk chunk;
    while (waiting_.empty()) {
      if (!source_.next(chunk)) return false;
      data::TextCounts ignored;
      data::parse_chunk(chunk, options_, *this, ignored);
    }
    sentence = std::move(waiting_.front());
    waiting_.pop_front();
    return true;
  }

 private:
  void sentence(std::string_view text) override { waiting_.emplace_back(text); }
  void end_document() override {}

  const data::TextSourceOptions& options_;
  data::TextSource source_;
  std::deque<std::string> waiting_;
};

std::string train(const TrainVocabOptions& options) {
  if (options.kind == VocabularyKind::WordPiece)
    return text::vocabulary_text(
        text::train_wordpiece(count_words(options), {.vocabulary_size = options.vocabulary_size,
                                                     .min_frequency = options.min_frequency,
                                                     .alphabet_limit = options.alphabet_limit}));
  SentenceStream stream(options.text);
  return text::train_sentencepiece(
      [&](std::string& sentence) { return stream.next(sentence); },
      {.kind = options.kind == VocabularyKind::Bpe ? text::SentencePieceKind::Bpe : text::SentencePieceKind::Unigram,
       .vocabulary_size = options.vocabulary_size,
       .character_coverage = options.character_coverage,
       .max_sentences = options.max_sentences,
       .lower_case = !options.cased});
}

/// The trained bytes as load_tokenizer reads them.
std::unique_ptr<text::Tokenizer> load(const TrainVocabOptions& options, const std::string& bytes) {
  const TemporaryFolder folder;
  text::TokenizerOptions tokenizer;
  const bool wordpiece = options.kind == VocabularyKind::WordPiece;
  const fs::path file = folder.path() / (wordpiece ? "vocab.txt" : "spiece.model");
  write_file_atomically(file, bytes);
  tokenizer.vocabulary = file.string();
  if (wordpiece) tokenizer.lower_case = options.cased ? text::Casing::Cased : text::Casing::Uncased;
  return text::load_tokenizer(tokenizer);
}

}  // namespace

void TrainVocabOptions::visit_fields(OptionVisitor& v) {
  text.visit_fields(v);
  v("kind", kind, "wordpiece (vocab.txt), or SentencePiece's unigram or bpe (spiece.model)",
    {.aliases = {"model_type"}});
  v("output", output, "folder for the vocabulary", {.aliases = {"output_dir", "o"}, .changes_result = false});
  v("vocabulary_size", vocabulary_size, "pieces to train, specials included",
    {.unit = "pieces", .min = 8, .max = 10'000'000, .aliases = {"vocab_size"}});
  v("cased", cased, "keep upper case and accents");
  v("min_frequency", min_frequency, "wordpiece: a pair of neighbours that occurs less often is not joined", {.min = 1});
  v("alphabet_limit", alphabet_limit, "wordpiece: different characters kept, the most frequent",
    {.unit = "characters", .min = 1, .aliases = {"limit_alphabet"}});
  v("character_coverage", character_coverage, "unigram, bpe: share of the characters that get a piece of their own",
    {.min = 0.9, .max = 1.0});
  v("max_sentences", max_sentences, "unigram, bpe: sentences taken from the front of the text; bounds memory",
    {.unit = "sentences", .min = 1, .aliases = {"input_sentence_size"}});
  v("processes", processes, "wordpiece: worker processes; 0: one per core; the vocabulary does not depend on it",
    {.min = 0, .max = 1024, .aliases = {"workers", "num_workers"}, .changes_result = false});
  v("overwrite", overwrite, "replace the vocabulary that `output` holds", {.changes_result = false});
}

void run_train_vocab(const TrainVocabOptions& options) {
  check_output(options);
  const Stopwatch watch;
  const auto tokenizer = load(options, train(options));
  std::error_code error;
  fs::create_directories(options.output, error);
  if (error) throw DataError("{}: cannot make the folder: {}", options.output, error.message());
  for (const char* former : {"vocab.txt", "spiece.model"}) fs::remove(fs::path(options.output) / former, error);
  for (const text::NamedFile& file : text::tokenizer_files(*tokenizer))
    write_file_atomically(fs::path(options.output) / file.name, file.bytes);
  if (tokenizer->size() < options.vocabulary_size)
    fmt::print("{} pieces, not {}: no pair of neighbours occurs {} times any more\n", tokenizer->size(),
               options.vocabulary_size, options.min_frequency);
  fmt::print("{} in {}, {}\n", tokenizer->description(), options.output,
             format_duration(std::chrono::duration<double>(watch.seconds())));
}

}  // namespace eflops::programs
