#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "models/structbert.h"

namespace eflops::models {

/// A random packed batch that owns its arrays. Sequence `key` draws the same tokens wherever it stands.
struct Batch {
  struct Sequence {
    std::int32_t length = 0;
    std::uint64_t key = 0;
    std::int32_t sentence_label = 0;
  };

  Batch(const std::vector<Sequence>& sequences, const StructBertOptions& options) {
    for (const Sequence& sequence : sequences) {
      Random random(9, Purpose::Test, sequence.key);
      const auto first = offsets.back();
      for (std::int32_t i = 0; i < sequence.length; ++i) {
        tokens.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(options.vocabulary))));
        segments.push_back(i >= sequence.length / 2 ? 1 : 0);
        positions.push_back(i);
        if (i % 4 != 2) continue;
        predicted_rows.push_back(first + i);
        predicted_labels.push_back(
            static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(options.vocabulary))));
      }
      offsets.push_back(first + sequence.length);
      sentence_labels.push_back(sequence.sentence_label);
      sample_keys.push_back(sequence.key);
    }
  }

  StructBertInput input() const {
    return {.tokens = tokens,
            .segments = segments,
            .positions = positions,
            .offsets = offsets,
            .predicted_rows = predicted_rows,
            .predicted_labels = predicted_labels,
            .sentence_labels = sentence_labels,
            .sample_keys = sample_keys};
  }

  std::vector<std::int32_t> tokens, segments, positions, offsets{0}, predicted_rows, predicted_labels, sentence_labels;
  std::vector<std::uint64_t> sample_keys;
};

inline StructBertOptions small_options() {
  StructBertOptions options;
  options.layers = 2;
  options.hidden = 32;
  options.heads = 4;
  options.intermediate = 64;
  options.vocabulary = 97;
  options.positions = 128;
  options.initializer_range = 0.2;
  return options;
}

/// A model with its gradient buffer.
struct Bound {
  explicit Bound(const StructBertOptions& options, std::uint64_t seed = 3) : model(options, seed) {
    gradients.resize(static_cast<std::size_t>(model.parameters().size()));
    model.parameters().bind_gradients(gradients.data());
  }
  StructBert model;
  std::vector<float> gradients;
};

}  // namespace eflops::models
