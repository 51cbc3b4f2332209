#include "models/structbert_input.h"

#include <string_view>

#include "base/error.h"
#include "ops/cross_entropy.h"

namespace eflops::models {
namespace {

enum class IgnoredLabel { Refused, Allowed };

void check_range(std::string_view name, std::span<const std::int32_t> values, std::int64_t end,
                 IgnoredLabel ignored = IgnoredLabel::Refused) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (ignored == IgnoredLabel::Allowed && values[i] == ops::kIgnoredLabel) continue;
    if (values[i] < 0 || values[i] >= end)
      throw DataError("batch: {}[{}] is {}; valid: 0 to {}", name, i, values[i], end - 1);
  }
}

void check_length(std::string_view name, std::size_t length, std::size_t expected) {
  if (length != expected) throw DataError("batch: {} has {} elements; expected {}", name, length, expected);
}

void check_offsets(std::span<const std::int32_t> offsets, std::size_t tokens, std::int64_t positions) {
  if (offsets.empty() || offsets.front() != 0)
    throw DataError("batch: offsets must begin with 0; there are {} of them", offsets.size());
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const std::int64_t length = std::int64_t{offsets[i + 1]} - offsets[i];
    if (length < 0) throw DataError("batch: offsets[{}] is {}, less than the one before", i + 1, offsets[i + 1]);
    if (length > positions)
      throw DataError("batch: sequence {} has {} tokens; the model has {} positions", i, length, positions);
  }
  if (static_cast<std::size_t>(offsets.back()) != tokens)
    throw DataError("batch: offsets end at {}, but there are {} tokens", offsets.back(), tokens);
}

}  // namespace

void check_input(const StructBertInput& input, const StructBertOptions& options, Mode mode) {
  const std::size_t tokens = input.tokens.size();
  check_length("segments", input.segments.size(), tokens);
  check_length("positions", input.positions.size(), tokens);
  check_offsets(input.offsets, tokens, options.positions);
  check_range("tokens", input.tokens, options.vocabulary);
  check_range("segments", input.segments, options.segments);
  check_range("positions", input.positions, options.positions);
  check_length("predicted_labels", input.predicted_labels.size(), input.predicted_rows.size());
  check_range("predicted_rows", input.predicted_rows, static_cast<std::int64_t>(tokens));
  check_range("predicted_labels", input.predicted_labels, options.vocabulary, IgnoredLabel::Allowed);
  const std::size_t sequences = input.offsets.size() - 1;
  if (!input.sentence_labels.empty()) check_length("sentence_labels", input.sentence_labels.size(), sequences);
  check_range("sentence_labels", input.sentence_labels, options.sentence_classes, IgnoredLabel::Allowed);
  for (std::size_t i = 0; i < input.sentence_labels.size(); ++i)
    if (input.offsets[i] == input.offsets[i + 1] && input.sentence_labels[i] != ops::kIgnoredLabel)
      throw DataError("batch: sequence {} is empty but has sentence label {}; valid: {}", i, input.sentence_labels[i],
                      ops::kIgnoredLabel);
  const bool drops = mode == Mode::Train && (options.dropout > 0.0 || options.attention_dropout > 0.0);
  if (drops || !input.sample_keys.empty()) check_length("sample_keys", input.sample_keys.size(), sequences);
}

}  // namespace eflops::models
