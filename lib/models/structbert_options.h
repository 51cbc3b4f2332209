#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "ops/activation.h"

namespace eflops::models {

/// Sizes with a name: 2 x 128, 4 x 256, 4 x 512, 12 x 768, 24 x 1024, heads of 64; custom leaves the sizes alone.
enum class StructBertSize { Custom, Tiny, Mini, Small, Base, Large };

/// Type of activations and matrix products; parameters, their gradients and the optimiser stay f32 (DESIGN D5).
enum class Precision { F32, BF16 };

using ops::Gelu;

/// A post-LN BERT encoder with the heads of StructBERT pre-training (arXiv:1908.04577).
struct StructBertOptions {
  std::int64_t layers = 4;
  std::int64_t hidden = 256;
  std::int64_t heads = 4;
  std::int64_t intermediate = 1024;
  std::int64_t vocabulary = 30522;
  std::int64_t positions = 512;
  std::int64_t segments = 2;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  Gelu gelu = Gelu::Erf;
  double layer_norm_epsilon = 1e-12;
  double initializer_range = 0.02;
  std::int64_t sentence_classes = 3;
  Precision precision = Precision::F32;

  void visit_fields(OptionVisitor& v);

  /// Sets layers, hidden, heads and intermediate of a named size.
  void set_size(StructBertSize size);
  /// ConfigError naming the field, its value and what would be valid; `key` is the path of this group in the config.
  void validate(std::string_view key = "model") const;
};

}  // namespace eflops::models

namespace eflops {

template <>
struct Choices<models::StructBertSize> {
  using Size = models::StructBertSize;
  static constexpr std::pair<Size, std::string_view> kEntries[] = {
      {Size::Custom, "custom"}, {Size::Tiny, "tiny"}, {Size::Mini, "mini"},
      {Size::Small, "small"},   {Size::Base, "base"}, {Size::Large, "large"},
  };
};

template <>
struct Choices<models::Precision> {
  static constexpr std::pair<models::Precision, std::string_view> kEntries[] = {
      {models::Precision::F32, "f32"},
      {models::Precision::BF16, "bf16"},
  };
};

template <>
struct Choices<models::Gelu> {
  static constexpr std::pair<models::Gelu, std::string_view> kEntries[] = {
      {models::Gelu::Erf, "erf"},
      {models::Gelu::Tanh, "tanh"},
  };
};

}  // namespace eflops
