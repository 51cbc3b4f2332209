#include "nn/masked_lm_head.h"

#include <algorithm>

#include "ops/cross_entropy.h"
#include "ops/rows.h"

namespace eflops::nn {
namespace {

using tensor::Arena;

/// Rows of one block of logits: equal blocks that keep to kLogitBytes, in whole padding units.
std::int64_t block_rows(std::int64_t predictions, std::int64_t row_bytes) {
  const std::int64_t unit = Arena::kRowPadding;
  const std::int64_t most = std::max(unit, MaskedLmHead::kLogitBytes / row_bytes / unit * unit);
  const std::int64_t blocks = std::max<std::int64_t>(1, (predictions + most - 1) / most);
  return Arena::padded((predictions + blocks - 1) / blocks);
}

}  // namespace

MaskedLmHead::MaskedLmHead(ParameterStore& store, const MaskedLmHeadOptions& options, const ParameterRef& words)
    : options_(options),
      words_(words),
      bias_(store.add(
          {.name = options.name + ".bias", .shape = {options.vocabulary}, .init = Init::Zeros, .decays = false})),
      decoder_({.inputs = options.width, .outputs = options.vocabulary}, options.dtype),
      dense_(store, {.names = {options.name + ".transform.dense"},
                     .inputs = options.width,
                     .outputs = options.width,
                     .dtype = options.dtype}),
      norm_(store,
            {.name = options.name + ".transform.LayerNorm", .width = options.width, .epsilon = options.epsilon}) {}

ops::LinearWeights MaskedLmHead::decoder_weights() const {
  return {.weight = words_.value(), .bias = bias_.value(), .version = words_.version()};
}

Tensor MaskedLmHead::transform(const Tensor& hidden, const Tensor& rows, const Pass& pass) {
  const tensor::Shape shape{rows.elements(), options_.width};
  const Tensor selected = pass.arena().allocate_rows(shape, options_.dtype);
  const Tensor raw = pass.arena().allocate_rows(shape, options_.dtype);
  const Tensor active = pass.arena().allocate_rows(shape, options_.dtype);
  ops::gather_rows(hidden, rows, selected);
  dense_.multiply(selected, Linear::Bias::LeaveOut, raw, pass);
  ops::bias_gelu_forward({.x = raw, .bias = dense_.bias(), .columns = options_.width, .kind = options_.gelu}, active);
  if (pass.trains()) {
    selected_ = selected;
    raw_ = raw;
  }
  return norm_.forward(active, pass);
}

void MaskedLmHead::decode(const Tensor& transformed, const Tensor& logits, const Pass& pass) {
  decoder_.forward(transformed, decoder_weights(), logits, pass.scratch);
}

MaskedLoss MaskedLmHead::run_decoder(const Tensor& transformed, std::span<const std::int32_t> labels,
                                     std::optional<float> gradient_scale, const Pass& pass) {
  const std::int64_t count = transformed.rows();
  MaskedLoss result{.sum = 0.0,
                    .rows = std::vector<double>(static_cast<std::size_t>(count)),
                    .argmax = std::vector<std::int32_t>(static_cast<std::size_t>(count))};
  const std::int64_t stride = ops::row_stride(options_.vocabulary, DType::F32);
  const std::int64_t block = block_rows(count, stride * tensor::bytes_of(DType::F32));
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t rows = std::min(block, count - first);
    const tensor::ArenaScope scope(pass.scratch);
    const Tensor input = transformed.row_range(first, first + rows);
    const Tensor logits = pass.scratch.allocate_rows({rows, stride}, DType::F32);
    decode(input, logits, pass);
    const auto at = static_cast<std::size_t>(first);
    const auto length = static_cast<std::size_t>(rows);
    result.sum += ops::cross_entropy(
        logits, options_.vocabulary, labels.subspan(at, length), gradient_scale,
        {.loss = std::span(result.rows).subspan(at, length), .argmax = std::span(result.argmax).subspan(at, length)});
    if (!gradient_scale) continue;
    Tensor d_logits = logits;
    if (options_.dtype != DType::F32) {
      d_logits = pass.scratch.allocate_rows(logits.shape(), options_.dtype);
      ops::convert(logits, d_logits);
    }
    ops::bias_backward(d_logits, options_.vocabulary, bias_.gradient());
    decoder_.backward_weights(input, d_logits, words_.gradient(), pass.scratch);
    decoder_.backward_data(d_logits, decoder_weights(), d_transformed_.row_range(first, first + rows), Accumulate::No,
                           pass.scratch);
  }
  return result;
}

MaskedLoss MaskedLmHead::forward(const Tensor& hidden, const MaskedTargets& targets,
                                 std::optional<float> gradient_scale, const Pass& pass) {
  EFLOPS_CHECK(std::ssize(targets.labels) == targets.rows.elements(), "{} labels, {} rows", targets.labels.size(),
               targets.rows.elements());
  const Tensor transformed = transform(hidden, targets.rows, pass);
  if (!pass.trains()) return run_decoder(transformed, targets.labels, std::nullopt, pass);
  targets_ = targets;
  gradient_scale_ = gradient_scale;
  transformed_ = transformed;
  d_transformed_ = pass.kept.allocate_rows(transformed.shape(), options_.dtype);
  return run_decoder(transformed, targets.labels, gradient_scale, pass);
}

void MaskedLmHead::backward(float scale, const Tensor& d_hidden, const Pass& pass) {
  EFLOPS_CHECK(!gradient_scale_ || *gradient_scale_ == scale, "scale {} after {}", scale, *gradient_scale_);
  const tensor::ArenaScope scope(pass.scratch);
  if (!gradient_scale_) run_decoder(transformed_, targets_.labels, scale, pass);
  pass.ready(bias_);
  const Tensor d_active = norm_.backward(d_transformed_, pass);
  ops::bias_gelu_backward({.x = raw_, .bias = dense_.bias(), .columns = options_.width, .kind = options_.gelu},
                          d_active, dense_.d_bias());
  dense_.backward_parameters(selected_, d_active, Linear::Bias::LeaveOut, pass);
  const Tensor d_selected = pass.scratch.allocate_rows(selected_.shape(), options_.dtype);
  dense_.backward_data(d_active, d_selected, Accumulate::No, pass);
  ops::gather_rows_backward(d_selected, targets_.rows, d_hidden);
  selected_ = raw_ = transformed_ = d_transformed_ = targets_.rows = {};
  gradient_scale_.reset();
}

Tensor MaskedLmHead::logits(const Tensor& hidden, const Tensor& rows, const Pass& pass) {
  EFLOPS_CHECK(!pass.trains(), "logits are for evaluation");
  const Tensor result = pass.scratch.allocate_rows({rows.elements(), options_.vocabulary}, DType::F32);
  const tensor::ArenaScope scope(pass.scratch);
  decode(transform(hidden, rows, pass), result, pass);
  return result;
}

void MaskedLmHead::visit_parameters(const ParameterVisitor& visit) const {
  visit(bias_);
  dense_.visit_parameters(visit);
  norm_.visit_parameters(visit);
}

}  // namespace eflops::nn
