#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "data/text_source.h"
#include "data/text_source_parse.h"
#include "text/tokenizer.h"

namespace eflops::data {

/// Where shards go and how they are made.
struct ShardingOptions {
  std::string output;                  ///< folder
  std::int64_t shard_size = 50000000;  ///< tokens; a shard ends behind the document that reaches it
  std::int64_t processes = 0;          ///< 0: one per core
  bool overwrite = false;              ///< replace the shards in `output`

  void visit_fields(OptionVisitor& v);
  /// Worker processes that 0 stands for here, or as asked.
  std::int64_t process_count() const;
};

/// What came of the text.
struct ShardingSummary {
  TextCounts counts;
  std::int64_t documents = 0;
  std::int64_t shards = 0;
  std::int64_t files = 0;
  std::int64_t empty_files = 0;
  std::int64_t files_with_bom = 0;
  std::int64_t long_documents = 0;  ///< longer than a shard; each is whole, in a shard that is larger than asked
  std::int64_t processes = 0;       ///< used
  std::vector<std::pair<TextFormat, std::int64_t>> formats;  ///< files by format
  double seconds = 0;
};

/// Text to a folder of shards, a manifest and the tokenizer's own files (`tokenizer/`), with several processes. The
/// bytes do not depend on the number of processes; memory does not grow with the text (bounded queues; of the shard
/// being written, 8 bytes per sentence). On any error nothing is left in `output`. Throws what TextSource, parse_chunk,
/// ShardFolder and map_in_processes throw; DataError when there is no sentence at all, or the disk is full.
ShardingSummary make_shards(const TextSourceOptions& source, const ShardingOptions& options,
                            const text::Tokenizer& tokenizer, std::size_t chunk_bytes = TextSource::kChunkBytes);

}  // namespace eflops::data
