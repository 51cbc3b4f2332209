#include "programs/data_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/stop_signal.h"
#include "data/shard_format.h"
#include "data/sharding_encode.h"
#include "data/sharding_folder.h"

namespace eflops::programs {
namespace {

using data::TextCount;

double percent(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

std::string files_text(const data::ShardingSummary& summary) {
  std::string formats;
  for (const auto& [format, files] : summary.formats)
    formats += fmt::format("{}{} {}", formats.empty() ? "" : ", ", files, choice_name(format));
  return fmt::format("{} ({})", summary.files, formats);
}

std::string odd_text(const data::ShardingSummary& summary) {
  const data::TextCounts& counts = summary.counts;
  const std::pair<std::int64_t, const char*> odd[] = {
      {summary.empty_files, "empty files"},
      {summary.files_with_bom, "files with a byte order mark"},
      {counts[TextCount::CrlfLines], "lines with CRLF"},
      {counts[TextCount::InvalidUtf8Lines], "lines with invalid UTF-8"},
      {counts[TextCount::InvalidUtf8Bytes], "bytes left out as invalid"},
      {counts[TextCount::EmptyDocuments], "documents without text"},
      {counts[TextCount::EmptySentences], "sentences of which no token was left"},
      {counts[TextCount::LongSentences], "sentences longer than 512 tokens"},
      {summary.long_documents, "documents longer than a shard"}};
  std::string text;
  for (const auto& [count, what] : odd)
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  return text;
}

void warn(const data::ShardingSummary& summary) {
  constexpr double kManyUnknown = 5;  // per cent; English text with BERT's vocabulary has less than 0.1
  const data::TextCounts& counts = summary.counts;
  if (summary.documents == 1)
    log::warning(
        "the text is one document: there is no other one to take a random sentence from. Put blank lines between "
        "documents, or give several files with --documents=file");
  if (counts[TextCount::InvalidUtf8Bytes] > 0)
    log::warning("{} bytes in {} lines are not UTF-8 and were left out; --invalid-utf8=fail makes that an error",
                 counts[TextCount::InvalidUtf8Bytes], counts[TextCount::InvalidUtf8Lines]);
  if (const double unknown = percent(counts[TextCount::UnknownTokens], counts[TextCount::Tokens]);
      unknown > kManyUnknown)
    log::warning("{:.1f} % of the tokens are unknown: does the vocabulary fit this text?", unknown);
}

}  // namespace

void ShardOptions::visit_fields(OptionVisitor& v) {
  text.visit_fields(v);
  tokenizer.visit_fields(v);
  shards.visit_fields(v);
}

std::string shard_summary(const data::ShardingSummary& summary, const std::string& output) {
  const data::TextCounts& counts = summary.counts;
  const std::int64_t tokens = counts[TextCount::Tokens];
  std::string text;
  const auto line = [&](const char* name, const std::string& value) { text += fmt::format("{:<12}{}\n", name, value); };
  line("files", files_text(summary));
  line("documents", fmt::format("{}", summary.documents));
  line("sentences", fmt::format("{}", counts[TextCount::Sentences]));
  line("tokens", fmt::format("{} ({:.3f} % unknown)", tokens, percent(counts[TextCount::UnknownTokens], tokens)));
  if (const std::string odd = odd_text(summary); !odd.empty()) line("odd", odd);
  line("speed", fmt::format("{}tokens/s with {} process{}, {} in all",
                            format_si(static_cast<double>(tokens) / std::max(summary.seconds, 1e-3)) + " ",
                            summary.processes, summary.processes == 1 ? "" : "es",
                            format_duration(std::chrono::duration<double>(summary.seconds))));
  line("shards", fmt::format("{} in {}", summary.shards, output));
  return text;
}

void run_shard(const ShardOptions& options) {
  const StopSignal stop;
  const auto tokenizer = text::load_tokenizer(options.tokenizer);
  text::require_pretraining_specials(*tokenizer);
  const data::ShardingSummary summary = data::make_shards(options.text, options.shards, *tokenizer);
  std::fputs(shard_summary(summary, options.shards.output).c_str(), stdout);
  warn(summary);
}

void estimate_shard(const ShardOptions& options) {
  const auto tokenizer = text::load_tokenizer(options.tokenizer);
  text::require_pretraining_specials(*tokenizer);
  data::ShardFolder::check(options.shards.output,
                           options.shards.overwrite ? data::ExistingShards::Replace : data::ExistingShards::Refuse);
  data::TextSource source(options.text);
  fmt::print("would read  {} files, {}\n", source.files().size(),
             source.bytes_total() > 0 ? format_bytes(source.bytes_total()) : "size unknown");
  fmt::print("would write {}, ids of {}\n", options.shards.output, tokenizer->description());
  if (std::ranges::find(source.files(), "-") != source.files().end()) return;  // a dry run leaves standard input alone
  data::TextChunk chunk;
  if (!source.next(chunk)) return;
  const Stopwatch watch;
  const data::EncodedChunk encoded = data::encode_chunk(chunk, options.text, *tokenizer);
  const double parts = static_cast<double>(std::max(source.bytes_total(), source.bytes_read())) /
                       static_cast<double>(std::max<std::uint64_t>(source.bytes_read(), 1));
  const double tokens = parts * static_cast<double>(encoded.ids.size());
  const std::uint32_t width = data::token_bytes_for(static_cast<std::uint64_t>(tokenizer->size()));
  fmt::print("about       {}tokens, {} of shards, {} with {} processes, judging by the first {} ({})\n",
             format_si(tokens) + " ", format_bytes(static_cast<std::uint64_t>(tokens * width)),
             format_duration(std::chrono::duration<double>(parts * watch.seconds() /
                                                           static_cast<double>(options.shards.process_count()))),
             options.shards.process_count(), format_bytes(chunk.text.size()), choice_name(chunk.format));
}

}  // namespace eflops::programs
