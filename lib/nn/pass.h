#pragma once

#include <cstdint>
#include <span>

#include "nn/parameter_store.h"
#include "ops/attention.h"
#include "tensor/arena.h"

namespace eflops::nn {

/// Train keeps what backward needs and drops out; Evaluate does neither.
enum class Mode { Train, Evaluate };

/// What the layers share while one packed batch of T tokens goes forward and back.
struct Pass {
  Mode mode;
  tensor::Arena& kept;                      ///< what backward needs; rewound by the model, after backward
  tensor::Arena& scratch;                   ///< what lives within a layer's call; results of backward
  std::span<const std::int32_t> offsets;    ///< [B+1]: sequence i is the rows [offsets[i], offsets[i+1])
  std::span<const std::uint64_t> row_keys;  ///< [T] dropout keys; empty where nothing is dropped
  OnReady on_ready = {};                    ///< called in backward; may be empty

  bool trains() const { return mode == Mode::Train; }
  std::int64_t tokens() const { return offsets.empty() ? 0 : offsets.back(); }
  /// The arena for a result that backward will read.
  tensor::Arena& arena() const { return trains() ? kept : scratch; }
  void ready(const ParameterRef& parameter) const {
    if (on_ready) on_ready(parameter);
  }
};

/// Dropout keys of packed tokens: a function of the sequence's key and the position in it (DESIGN D7), so they do not
/// depend on what else is in the batch. `sample_keys` [B]; `keys` [T].
void fill_row_keys(std::span<const std::int32_t> offsets, std::span<const std::uint64_t> sample_keys,
                   std::span<std::uint64_t> keys);

}  // namespace eflops::nn
