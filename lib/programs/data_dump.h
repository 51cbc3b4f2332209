#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "data/objective_options.h"
#include "data/pretrain_instance.h"
#include "text/tokenizer.h"

namespace eflops::programs {

/// Text for people, or one JSON object a line.
enum class DumpFormat { Text, Json };

/// `eflops-data dump`: pre-training instances as a run with the same objective, seed and epoch sees them.
struct DumpOptions {
  std::vector<std::string> input = {};
  std::string vocabulary = {};
  data::ObjectiveOptions objective = {};
  std::int64_t seed = 1;
  std::int64_t epoch = 0;
  std::int64_t first = 0;
  std::int64_t count = 3;
  DumpFormat format = DumpFormat::Text;

  void visit_fields(OptionVisitor& v);
};

/// Writes instances [first, first + count) of an epoch to stdout: tokens with what was masked or shuffled and its
/// target, segments, class; and for people the counts of the epoch. ConfigError when no input is named or `first` lies
/// beyond the epoch; DataError for damaged shards, or a vocabulary that the shards were not made with.
void run_dump(const DumpOptions& options);

/// One instance over a few lines: `{[MASK] -> cat}` hidden, `{dog -> cat}` replaced at random, `{cat}` kept but
/// predicted,
/// `{mat the on -> on the mat}` shuffled. `options` must be resolved.
std::string instance_text(const data::PretrainInstance& instance, const text::Tokenizer& tokenizer,
                          const data::ObjectiveOptions& options);

}  // namespace eflops::programs

template <>
struct eflops::Choices<eflops::programs::DumpFormat> {
  static constexpr std::pair<eflops::programs::DumpFormat, std::string_view> kEntries[] = {
      {eflops::programs::DumpFormat::Text, "text"}, {eflops::programs::DumpFormat::Json, "json"}};
};
