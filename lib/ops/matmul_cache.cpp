#include "ops/matmul_cache.h"

#include "base/error.h"

namespace eflops::ops {
namespace {

Matmul make(const MatmulKey& key) {
  using dnnl::memory;
  const auto input = onednn_type(key.input);
  const memory::desc stored = weights_as_stored(key, key.input);
  const memory::desc any({key.k, key.n}, input, memory::format_tag::any);
  onednn::MatmulDescription description{
      .source = memory::desc({key.m, key.k}, input, memory::dims{key.a_row, key.a_column}),
      .weights = key.weights == MatmulKey::Weights::Packed ? any : stored,
      .bias = key.bias ? memory::desc({1, key.n}, memory::data_type::f32, memory::format_tag::ab) : memory::desc(),
      .destination = memory::desc({key.m, key.n}, onednn_type(key.output), memory::dims{key.c_row, 1}),
      .attributes = {}};
  if (key.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0F);
    description.attributes.set_post_ops(sum);
  }
  const auto primitive = onednn::make_matmul(description, onednn::engine());
  return {dnnl::matmul(primitive), primitive.src_desc(), primitive.weights_desc(),
          primitive.dst_desc(),    description.bias,     primitive.impl_info_str()};
}

}  // namespace

dnnl::memory::data_type onednn_type(tensor::DType dtype) {
  EFLOPS_CHECK(dtype != tensor::DType::I32, "no matrix product of integers");
  return dtype == tensor::DType::BF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::desc weights_as_stored(const MatmulKey& key, tensor::DType dtype) {
  return {{key.k, key.n}, onednn_type(dtype), dnnl::memory::dims{key.b_row, key.b_column}};
}

const Matmul& MatmulCache::find_or_make(const MatmulKey& key) {
  if (const auto found = entries_.find(key); found != entries_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second.place);
    return found->second.matmul;
  }
  if (entries_.size() >= kCapacity) {
    entries_.erase(recent_.back());
    recent_.pop_back();
  }
  Matmul matmul = make(key);
  recent_.push_front(key);
  return entries_.emplace(key, Entry{std::move(matmul), recent_.begin()}).first->second.matmul;
}

}  // namespace eflops::ops
