#include "data/sharding.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "data/shard_writer.h"
#include "data/sharding_encode.h"
#include "data/sharding_folder.h"
#include "data/sharding_pool.h"

namespace eflops::data {
namespace {

/// Deals encoded chunks, in order, to shards.
class ShardSeries {
 public:
  ShardSeries(std::filesystem::path folder, const text::Tokenizer& tokenizer, std::int64_t shard_size)
      : folder_(std::move(folder)),
        identity_{tokenizer.hash(), tokenizer.description(), tokenizer.size()},
        shard_size_(shard_size) {}

  void add(const EncodedChunk& chunk) {
    counts_ += chunk.counts;
    const std::uint32_t* length = chunk.sentence_lengths.data();
    std::span<const std::int32_t> ids(chunk.ids);
    for (std::size_t d = 0; d < chunk.documents.size(); ++d) {
      if (d > 0 || !chunk.continues) end_document();
      for (std::uint32_t s = 0; s < chunk.documents[d]; ++s) {
        if (!writer_) writer_ = std::make_unique<ShardWriter>(folder_ / next_name(), identity_);
        writer_->add_sentence(ids.first(*length));
        ids = ids.subspan(*length++);
      }
    }
  }

  void finish() {
    end_document();
    if (writer_) close_shard();
  }

  const TextCounts& counts() const { return counts_; }
  std::vector<ManifestShard>& shards() { return shards_; }
  std::int64_t long_documents() const { return long_documents_; }

 private:
  std::string next_name() const { return ShardFolder::shard_name(static_cast<std::int64_t>(shards_.size())); }

  void end_document() {
    if (!writer_) return;
    writer_->end_document();
    if (writer_->tokens() - document_begin_ > shard_size_) ++long_documents_;
    document_begin_ = writer_->tokens();
    if (writer_->tokens() >= shard_size_) close_shard();
  }

  void close_shard() {
    shards_.push_back({next_name(), writer_->documents(), writer_->sentences(), writer_->tokens()});
    writer_->commit();
    writer_.reset();
    document_begin_ = 0;
  }

  std::filesystem::path folder_;
  TokenizerIdentity identity_;
  std::int64_t shard_size_;
  std::unique_ptr<ShardWriter> writer_;
  std::int64_t document_begin_ = 0;  ///< tokens of the open shard before the open document
  std::int64_t long_documents_ = 0;
  std::vector<ManifestShard> shards_;
  TextCounts counts_;
};

void write_tokenizer(const std::filesystem::path& folder, const text::Tokenizer& tokenizer) {
  std::filesystem::create_directory(folder);
  for (const text::NamedFile& file : text::tokenizer_files(tokenizer))
    write_file_atomically(folder / file.name, file.bytes);
}

std::string format_names(const std::vector<std::pair<TextFormat, std::int64_t>>& formats) {
  std::string names;
  for (const auto& [format, files] : formats) names += (names.empty() ? "" : ", ") + std::string(choice_name(format));
  return names;
}

ShardManifest make_manifest(const ShardingSummary& summary, const TextSource& source,
                            const text::Tokenizer& tokenizer) {
  ShardManifest manifest;
  manifest.format = format_names(summary.formats);
  manifest.sources = source.files();
  manifest.tokenizer = tokenizer.description();
  manifest.tokenizer_hash = tokenizer.hash();
  manifest.vocabulary_size = tokenizer.size();
  manifest.counts = {{"files", summary.files},
                     {"empty_files", summary.empty_files},
                     {"files_with_bom", summary.files_with_bom},
                     {"documents", summary.documents},
                     {"long_documents", summary.long_documents}};
  for (std::size_t i = 0; i < TextCounts::kSize; ++i) {
    const auto what = static_cast<TextCount>(i);
    manifest.counts.emplace_back(text_count_name(what), summary.counts[what]);
  }
  return manifest;
}

}  // namespace

void ShardingOptions::visit_fields(OptionVisitor& v) {
  v("output", output, "folder for the shards, their manifest and a copy of the vocabulary",
    {.aliases = {"output_dir", "o"}, .changes_result = false});
  v("shard_size", shard_size, "a shard ends behind the document with which it reaches this size",
    {.unit = "tokens", .min = 1});
  v("processes", processes, "worker processes; 0: one per core; the shards do not depend on it",
    {.min = 0, .max = 1024, .aliases = {"workers", "num_workers"}, .changes_result = false});
  v("overwrite", overwrite, "replace the shards that `output` holds", {.changes_result = false});
}

std::int64_t ShardingOptions::process_count() const {
  return processes > 0 ? processes : std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

ShardingSummary make_shards(const TextSourceOptions& source_options, const ShardingOptions& options,
                            const text::Tokenizer& tokenizer, std::size_t chunk_bytes) {
  const Stopwatch watch;
  TextSource source(source_options, chunk_bytes);
  ShardFolder folder(options.output, options.overwrite ? ExistingShards::Replace : ExistingShards::Refuse);
  ShardSeries series(folder.staging(), tokenizer, options.shard_size);
  Progress progress("sharding", "B", source.bytes_total());
  const std::int64_t processes = options.process_count();
  TextChunk chunk;
  map_in_processes(
      {.processes = processes},
      {.produce =
           [&](std::string& job) {
             if (!source.next(chunk)) return false;
             job = pack(chunk);
             return true;
           },
       .work = [&](std::string_view job) { return pack(encode_chunk(unpack_text(job), source_options, tokenizer)); },
       .consume =
           [&](std::string_view result) {
             series.add(unpack_encoded(result));
             const auto tokens = static_cast<double>(series.counts()[TextCount::Tokens]);
             progress.update(source.bytes_read(), fmt::format("{}tokens, {}tokens/s", format_si(tokens),
                                                              format_si(tokens / std::max(watch.seconds(), 1e-3))));
           }});
  series.finish();
  if (series.shards().empty())
    throw DataError("no sentence in {}{}: nothing to write", source.files().front(),
                    source.files().size() > 1 ? fmt::format(" and {} more files", source.files().size() - 1) : "");
  ShardingSummary summary{.counts = series.counts(),
                          .shards = static_cast<std::int64_t>(series.shards().size()),
                          .files = static_cast<std::int64_t>(source.files().size()),
                          .empty_files = source.empty_files(),
                          .files_with_bom = source.files_with_bom(),
                          .long_documents = series.long_documents(),
                          .processes = processes,
                          .formats = source.formats()};
  for (const ManifestShard& shard : series.shards()) summary.documents += shard.documents;
  write_tokenizer(folder.staging() / kTokenizerFolder, tokenizer);
  ShardManifest manifest = make_manifest(summary, source, tokenizer);
  manifest.shards = std::move(series.shards());
  folder.commit(manifest);
  progress.finish();
  summary.seconds = watch.seconds();
  return summary;
}

}  // namespace eflops::data
