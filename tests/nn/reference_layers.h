#pragma once

#include "layer_check.h"

/// Forward passes of the layers in double, by Hugging Face's parameter names.
namespace eflops::nn::reference_layers {

inline Values linear(const NamedValues& p, const std::string& name, const Values& x, std::int64_t inputs) {
  return reference::linear(x, p.at(name + ".weight"), p.at(name + ".bias"), static_cast<std::size_t>(inputs));
}

inline Values norm(const NamedValues& p, const std::string& name, const Values& x, double epsilon = 1e-12) {
  return reference::layer_norm(x, p.at(name + ".weight"), p.at(name + ".bias"), epsilon).y;
}

inline Values add(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

struct Block {
  std::string name = "layer";
  std::int64_t width = 8;
  std::int64_t heads = 2;
  double dropout = 0.0;
  double attention_dropout = 0.0;
  std::uint64_t salt = 0;
  std::uint64_t residual_salt = 0;
  kernels::Gelu gelu = kernels::Gelu::Erf;
};

inline Values residual_norm(const NamedValues& p, const Block& block, const std::string& name, const Values& x,
                            const Values& residual, const LayerCheck& check) {
  const Values dropped = reference::dropout(x, static_cast<std::size_t>(block.width),
                                            {.probability = static_cast<float>(block.dropout),
                                             .salt = block.residual_salt,
                                             .row_keys = check.row_keys.data()});
  return norm(p, name, add(residual, dropped));
}

/// Attention of each sequence, one head at a time.
inline Values attention(const NamedValues& p, const Block& block, const Values& x, const LayerCheck& check) {
  const auto width = static_cast<std::size_t>(block.width);
  const std::size_t size = width / static_cast<std::size_t>(block.heads);
  const std::string self = block.name + ".attention.self.";
  const Values q = linear(p, self + "query", x, block.width);
  const Values k = linear(p, self + "key", x, block.width);
  const Values v = linear(p, self + "value", x, block.width);
  Values context(x.size());
  for (std::size_t s = 0; s + 1 < check.offsets.size(); ++s) {
    const auto first = static_cast<std::size_t>(check.offsets[s]);
    const auto length = static_cast<std::size_t>(check.offsets[s + 1]) - first;
    for (std::size_t head = 0; head < static_cast<std::size_t>(block.heads); ++head) {
      const auto at = [&](std::size_t row, std::size_t i) { return (first + row) * width + head * size + i; };
      Values scores(length * length);
      for (std::size_t row = 0; row < length * length; ++row)
        for (std::size_t i = 0; i < size; ++i) scores[row] += q[at(row / length, i)] * k[at(row % length, i)];
      Values probability = reference::softmax(scores, length, 1.0 / std::sqrt(static_cast<double>(size))).y;
      probability = reference::dropout(probability, length,
                                       {.probability = static_cast<float>(block.attention_dropout),
                                        .salt = block.salt + head,
                                        .row_keys = check.row_keys.data() + first});
      for (std::size_t row = 0; row < length * length; ++row)
        for (std::size_t i = 0; i < size; ++i)
          context[at(row / length, i)] += probability[row] * v[at(row % length, i)];
    }
  }
  return context;
}

inline Values self_attention(const NamedValues& p, const Block& block, const Values& x, const LayerCheck& check) {
  const Values projected =
      linear(p, block.name + ".attention.output.dense", attention(p, block, x, check), block.width);
  return residual_norm(p, block, block.name + ".attention.output.LayerNorm", projected, x, check);
}

inline Values feed_forward(const NamedValues& p, const Block& block, const Values& x, const LayerCheck& check) {
  const Values inner = reference::gelu(linear(p, block.name + ".intermediate.dense", x, block.width), block.gelu);
  const auto intermediate = static_cast<std::int64_t>(p.at(block.name + ".intermediate.dense.bias").size());
  const Values projected = linear(p, block.name + ".output.dense", inner, intermediate);
  return residual_norm(p, block, block.name + ".output.LayerNorm", projected, x, check);
}

}  // namespace eflops::nn::reference_layers
