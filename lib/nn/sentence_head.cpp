#include "nn/sentence_head.h"

#include "ops/activation.h"
#include "ops/cross_entropy.h"

namespace eflops::nn {

SentenceHead::SentenceHead(ParameterStore& store, const SentenceHeadOptions& options)
    : classes_(options.classes),
      dtype_(options.dtype),
      dense_(store,
             {.names = {options.name}, .inputs = options.width, .outputs = options.classes, .dtype = options.dtype}) {}

Tensor SentenceHead::forward(const Tensor& pooled, const Pass& pass) {
  const Tensor logits = pass.arena().allocate_rows({pooled.rows(), classes_}, DType::F32);
  dense_.multiply(pooled, Linear::Bias::Add, logits, pass);
  if (pass.trains()) {
    pooled_ = pooled;
    logits_ = logits;
  }
  return logits;
}

ClassLoss SentenceHead::loss(std::span<const std::int32_t> labels, const Tensor& logits) const {
  ClassLoss result{.sum = 0.0, .argmax = std::vector<std::int32_t>(labels.size())};
  std::vector<double> row_loss(labels.size());
  result.sum = ops::cross_entropy(logits, classes_, labels, std::nullopt, {.loss = row_loss, .argmax = result.argmax});
  return result;
}

Tensor SentenceHead::backward(std::span<const std::int32_t> labels, float scale, const Pass& pass) {
  const Tensor d_pooled = pass.scratch.allocate_rows(pooled_.shape(), dtype_);
  const tensor::ArenaScope scope(pass.scratch);
  std::vector<double> row_loss(labels.size());
  std::vector<std::int32_t> argmax(labels.size());
  ops::cross_entropy(logits_, classes_, labels, scale, {.loss = row_loss, .argmax = argmax});
  Tensor d_logits = logits_;
  if (dtype_ != DType::F32) {
    d_logits = pass.scratch.allocate_rows(logits_.shape(), dtype_);
    ops::convert(logits_, d_logits);
  }
  dense_.backward_data(d_logits, d_pooled, Accumulate::No, pass);
  dense_.backward_parameters(pooled_, d_logits, Linear::Bias::Add, pass);
  pooled_ = logits_ = {};
  return d_pooled;
}

}  // namespace eflops::nn
