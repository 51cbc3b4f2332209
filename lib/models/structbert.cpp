#include "models/structbert.h"

#include <algorithm>
#include <optional>

#include "models/structbert_input.h"
#include "nn/embeddings.h"
#include "nn/encoder_layer.h"
#include "nn/masked_lm_head.h"
#include "nn/pooler.h"
#include "nn/sentence_head.h"
#include "ops/cross_entropy.h"

namespace eflops::models {
namespace {

using tensor::Arena;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

DType dtype_of(const StructBertOptions& options) {
  return options.precision == Precision::BF16 ? DType::BF16 : DType::F32;
}

/// Layer i draws with numbers from (i + 1)·kSaltsPerLayer on; the embeddings with number 0.
nn::EncoderLayerOptions layer_options(const StructBertOptions& options, std::int64_t index) {
  return {.name = fmt::format("bert.encoder.layer.{}", index),
          .width = options.hidden,
          .heads = options.heads,
          .intermediate = options.intermediate,
          .gelu = options.gelu,
          .epsilon = options.layer_norm_epsilon,
          .dropout = options.dropout,
          .attention_dropout = options.attention_dropout,
          .salt = static_cast<std::uint64_t>(index + 1) * nn::kSaltsPerLayer,
          .dtype = dtype_of(options)};
}

Tensor copy_ids(std::span<const std::int32_t> ids, Arena& arena) {
  const Tensor copy = arena.allocate({std::ssize(ids)}, DType::I32);
  std::ranges::copy(ids, copy.data<std::int32_t>());
  return copy;
}

Tensor float_copy(const Tensor& tensor) {
  Tensor copy(tensor.shape(), DType::F32);
  ops::convert(tensor, copy);
  return copy;
}

const StructBertOptions& validated(const StructBertOptions& options) {
  options.validate();
  return options;
}

}  // namespace

struct StructBert::Impl {
  explicit Impl(const StructBertOptions& given);

  nn::Pass pass(Mode wanted, const nn::OnReady& on_ready) {
    return {.mode = wanted,
            .kept = kept,
            .scratch = scratch,
            .offsets = offsets,
            .row_keys = row_keys,
            .on_ready = on_ready};
  }
  void take_input(const StructBertInput& input, Mode mode);
  StructBertLoss run_forward(Mode mode, std::optional<float> masked_scale);
  void sentence_forward(const nn::Pass& pass, StructBertLoss& loss);
  void run_backward(float masked_scale, float sentence_scale, const nn::OnReady& on_ready);

  StructBertOptions options;
  nn::ParameterStore store;
  nn::Embeddings embeddings;
  std::vector<nn::EncoderLayer> layers;
  nn::Pooler pooler;
  nn::MaskedLmHead masked_head;
  nn::SentenceHead sentence_head;

  Arena kept;
  Arena scratch;
  // The batch of the last forward.
  bool can_backward = false;
  Mode mode = Mode::Evaluate;
  nn::TokenIds ids;
  Tensor predicted_rows, sentence_rows;
  std::vector<std::int32_t> offsets, predicted_labels, sentence_labels;
  std::vector<std::int64_t> sentence_index;  ///< sequence of each row of the sentence head
  std::vector<std::uint64_t> row_keys;
  Tensor hidden, sentence_logits;
};

StructBert::Impl::Impl(const StructBertOptions& given)
    : options(validated(given)),
      embeddings(store, {.vocabulary = options.vocabulary,
                         .positions = options.positions,
                         .segments = options.segments,
                         .width = options.hidden,
                         .epsilon = options.layer_norm_epsilon,
                         .dropout = options.dropout,
                         .dtype = dtype_of(options)}),
      layers([this] {
        std::vector<nn::EncoderLayer> all;
        all.reserve(static_cast<std::size_t>(options.layers));
        for (std::int64_t i = 0; i < options.layers; ++i) all.emplace_back(store, layer_options(options, i));
        return all;
      }()),
      pooler(store, {.width = options.hidden, .dtype = dtype_of(options)}),
      masked_head(store,
                  {.vocabulary = options.vocabulary,
                   .width = options.hidden,
                   .gelu = options.gelu,
                   .epsilon = options.layer_norm_epsilon,
                   .dtype = dtype_of(options)},
                  embeddings.words()),
      sentence_head(store, {.width = options.hidden, .classes = options.sentence_classes, .dtype = dtype_of(options)}) {
}

void StructBert::Impl::take_input(const StructBertInput& input, Mode wanted) {
  check_input(input, options, wanted);
  hidden = sentence_logits = predicted_rows = sentence_rows = {};
  ids = {};
  kept.reset();
  scratch.reset();
  mode = wanted;
  can_backward = false;
  ids = {.words = copy_ids(input.tokens, kept),
         .positions = copy_ids(input.positions, kept),
         .segments = copy_ids(input.segments, kept)};
  predicted_rows = copy_ids(input.predicted_rows, kept);
  offsets.assign(input.offsets.begin(), input.offsets.end());
  predicted_labels.assign(input.predicted_labels.begin(), input.predicted_labels.end());
  row_keys.clear();
  if (mode == Mode::Train && !input.sample_keys.empty()) {
    row_keys.resize(input.tokens.size());
    nn::fill_row_keys(offsets, input.sample_keys, row_keys);
  }
  sentence_index.clear();
  sentence_labels.clear();
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < input.sentence_labels.size(); ++i) {
    if (offsets[i] == offsets[i + 1]) continue;
    sentence_index.push_back(static_cast<std::int64_t>(i));
    sentence_labels.push_back(input.sentence_labels[i]);
    rows.push_back(offsets[i]);
  }
  sentence_rows = copy_ids(rows, kept);
}

void StructBert::Impl::sentence_forward(const nn::Pass& pass, StructBertLoss& loss) {
  sentence_logits = sentence_head.forward(pooler.forward(hidden, sentence_rows, pass), pass);
  const nn::ClassLoss result = sentence_head.loss(sentence_labels, sentence_logits);
  loss.sentence_sum = result.sum;
  for (std::size_t row = 0; row < sentence_index.size(); ++row)
    loss.sentence_argmax[static_cast<std::size_t>(sentence_index[row])] = result.argmax[row];
}

StructBertLoss StructBert::Impl::run_forward(Mode wanted, std::optional<float> masked_scale) {
  const nn::Pass pass = this->pass(wanted, {});
  hidden = embeddings.forward(ids, pass);
  for (nn::EncoderLayer& layer : layers) hidden = layer.forward(hidden, pass);
  StructBertLoss loss;
  if (!sentence_index.empty()) {
    loss.sentence_argmax.assign(offsets.size() - 1, -1);
    sentence_forward(pass, loss);
  }
  if (!predicted_rows.empty()) {
    const nn::MaskedLoss result =
        masked_head.forward(hidden, {.rows = predicted_rows, .labels = predicted_labels}, masked_scale, pass);
    loss.masked_sum = result.sum;
    for (const double row : result.rows) loss.per_prediction_loss.push_back(static_cast<float>(row));
    loss.predicted_argmax = result.argmax;
  }
  can_backward = wanted == Mode::Train;
  return loss;
}

void StructBert::Impl::run_backward(float masked_scale, float sentence_scale, const nn::OnReady& on_ready) {
  EFLOPS_CHECK(can_backward, "backward needs a forward in Train before it, once");
  can_backward = false;
  const nn::Pass pass = this->pass(Mode::Train, on_ready);
  const tensor::ArenaScope scope(scratch);
  const Tensor d_hidden = scratch.allocate_rows(hidden.shape(), hidden.dtype());
  std::fill_n(d_hidden.raw(), d_hidden.bytes(), std::byte{0});
  if (!predicted_rows.empty()) masked_head.backward(masked_scale, d_hidden, pass);
  if (!sentence_index.empty()) {
    const tensor::ArenaScope head(scratch);
    pooler.backward(sentence_head.backward(sentence_labels, sentence_scale, pass), d_hidden, pass);
  }
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) layer->backward(d_hidden, pass);
  embeddings.backward(d_hidden, pass);
}

StructBert::StructBert(const StructBertOptions& options, std::uint64_t seed) : impl_(std::make_unique<Impl>(options)) {
  impl_->store.initialise(seed, options.initializer_range);
}
StructBert::~StructBert() = default;

std::vector<nn::Parameter> StructBert::parameters_of(const StructBertOptions& options) {
  return Impl(options).store.parameters();
}

const StructBertOptions& StructBert::options() const { return impl_->options; }
nn::ParameterStore& StructBert::parameters() { return impl_->store; }

StructBertLoss StructBert::forward(const StructBertInput& input, Mode mode) {
  impl_->take_input(input, mode);
  return impl_->run_forward(mode, std::nullopt);
}

void StructBert::backward(float masked_scale, float sentence_scale, const nn::OnReady& on_ready) {
  impl_->run_backward(masked_scale, sentence_scale, on_ready);
}

StructBertLoss StructBert::forward_backward(const StructBertInput& input, float masked_scale, float sentence_scale,
                                            const nn::OnReady& on_ready) {
  impl_->take_input(input, Mode::Train);
  StructBertLoss loss = impl_->run_forward(Mode::Train, masked_scale);
  impl_->run_backward(masked_scale, sentence_scale, on_ready);
  return loss;
}

Tensor StructBert::hidden() const { return float_copy(impl_->hidden); }

Tensor StructBert::masked_logits() {
  EFLOPS_CHECK(impl_->mode == Mode::Evaluate && !impl_->hidden.empty(), "logits are of a forward in Evaluate");
  const tensor::ArenaScope scope(impl_->scratch);
  return float_copy(impl_->masked_head.logits(impl_->hidden, impl_->predicted_rows, impl_->pass(Mode::Evaluate, {})));
}

Tensor StructBert::sentence_logits() const { return float_copy(impl_->sentence_logits); }

std::int64_t StructBert::peak_activation_bytes() const {
  return impl_->kept.peak_bytes() + impl_->scratch.peak_bytes();
}

std::string StructBert::implementation() const {
  return std::string(ops::implementation_name(ops::default_implementation(dtype_of(impl_->options))));
}

}  // namespace eflops::models
