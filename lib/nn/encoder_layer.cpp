#include "nn/encoder_layer.h"

namespace eflops::nn {

EncoderLayer::EncoderLayer(ParameterStore& store, const EncoderLayerOptions& options)
    : attention_(store, options), feed_forward_(store, options) {}

Tensor EncoderLayer::forward(const Tensor& x, const Pass& pass) {
  const tensor::ArenaScope scope(pass.scratch);
  const Tensor middle = pass.arena().allocate_rows(x.shape(), x.dtype());
  const Tensor y = pass.trains() ? pass.kept.allocate_rows(x.shape(), x.dtype()) : x;
  attention_.forward(x, middle, pass);
  feed_forward_.forward(middle, y, pass);
  return y;
}

Tensor EncoderLayer::backward(const Tensor& d_y, const Pass& pass) {
  feed_forward_.backward(d_y, pass);
  attention_.backward(d_y, pass);
  return d_y;
}

void EncoderLayer::visit_parameters(const ParameterVisitor& visit) const {
  attention_.visit_parameters(visit);
  feed_forward_.visit_parameters(visit);
}

}  // namespace eflops::nn
