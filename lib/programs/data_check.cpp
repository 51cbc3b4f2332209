#include "programs/data_check.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "base/hash.h"
#include "data/corpus.h"
#include "data/shard_manifest.h"
#include "text/tokenizer.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;

/// Prints what was found and counts what is damaged.
class Findings {
 public:
  template <typename Check>
  void look(const std::string& name, Check check) {
    ++looked_;
    try {
      fmt::print("ok       {}: {}\n", name, check());
    } catch (const Error& error) {
      if (damaged_++ == 0) first_ = error.what();
      fmt::print("DAMAGED  {}\n", error.what());
    }
  }
  void finish() const {
    if (damaged_ > 0) throw DataError("{} of {} checks found damage; the first: {}", damaged_, looked_, first_);
  }

 private:
  std::int64_t looked_ = 0;
  std::int64_t damaged_ = 0;
  std::string first_;
};

std::string check_shard(const fs::path& file) {
  const data::Corpus shard({file});
  shard.verify();
  return fmt::format("{} documents, {} sentences, {} tokens, {}", shard.document_count(), shard.total_sentences(),
                     shard.token_count(), shard.tokenizer_description());
}

std::string check_listed_shard(const fs::path& folder, const data::ManifestShard& listed,
                               const data::ShardManifest& manifest) {
  const fs::path file = folder / listed.file;
  const std::string found = check_shard(file);
  const data::Corpus shard({file});
  if (shard.document_count() != listed.documents || shard.total_sentences() != listed.sentences ||
      shard.token_count() != listed.tokens || shard.tokenizer_hash() != manifest.tokenizer_hash)
    throw DataError("{}: not the shard that {} lists ({} documents, {} sentences, {} tokens)", file.string(),
                    data::kManifestName, listed.documents, listed.sentences, listed.tokens);
  return found;
}

std::string check_tokenizer(const fs::path& folder, const data::ShardManifest& manifest) {
  const fs::path stored = folder / data::kTokenizerFolder;
  const auto tokenizer = text::load_tokenizer({.vocabulary = stored.string()});
  if (tokenizer->hash() != manifest.tokenizer_hash)
    throw DataError("{}: {} ({}) is not the tokenizer that made the shards ({}, {})", stored.string(),
                    hex64(tokenizer->hash()), tokenizer->description(), hex64(manifest.tokenizer_hash),
                    manifest.tokenizer);
  return tokenizer->description();
}

}  // namespace

void CheckOptions::visit_fields(OptionVisitor& v) { v("input", input, "folders of shards, or single shards"); }

void run_check(const CheckOptions& options) {
  if (options.input.empty()) throw ConfigError("input is empty: name a folder made by 'eflops-data shard'");
  Findings findings;
  for (const std::string& given : options.input) {
    if (!fs::is_directory(given)) {
      findings.look(given, [&] { return check_shard(given); });
      continue;
    }
    const data::ShardManifest manifest = data::read_manifest(given);
    for (const data::ManifestShard& shard : manifest.shards)
      findings.look((fs::path(given) / shard.file).string(),
                    [&] { return check_listed_shard(given, shard, manifest); });
    findings.look((fs::path(given) / data::kTokenizerFolder).string(),
                  [&] { return check_tokenizer(given, manifest); });
  }
  findings.finish();
}

}  // namespace eflops::programs
