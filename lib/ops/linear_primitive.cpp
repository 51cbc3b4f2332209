#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "ops/linear_path.h"
#include "ops/matmul_cache.h"

namespace eflops::ops {
namespace {

/// One for the process: layers of equal shape share their primitives.
MatmulCache& cache() {
  static MatmulCache shared;
  return shared;
}

dnnl::memory wrap(const dnnl::memory::desc& description, const void* data) {
  return {description, onednn::engine(), const_cast<void*>(data)};
}

/// Weights in the layout oneDNN asked for, made from the f32 master once per version.
class PackedWeights {
 public:
  const dnnl::memory& get(const MatmulKey& key, const Matmul& matmul, const LinearWeights& weights) {
    const bool same_layout = memory_ && memory_.get_desc() == matmul.b;
    if (same_layout && source_ == weights.weight && version_ == weights.version) return memory_;
    if (!same_layout) memory_ = dnnl::memory(matmul.b, onednn::engine());
    const dnnl::memory master = wrap(weights_as_stored(key, DType::F32), weights.weight);
    dnnl::reorder(master, memory_).execute(onednn::stream(), const_cast<dnnl::memory&>(master), memory_);
    onednn::stream().wait();
    source_ = weights.weight;
    version_ = weights.version;
    return memory_;
  }

 private:
  dnnl::memory memory_;
  const float* source_ = nullptr;
  std::uint64_t version_ = 0;
};

/// Products over rows rounded up to the arena's padding, so that a few primitives serve every batch.
class PrimitivePath final : public Linear::Path {
 public:
  using Path::Path;

  void forward(const Tensor& x, const LinearWeights& weights, const Tensor& y, Arena&) override {
    const auto [inputs, outputs] = shape();
    const MatmulKey key{.m = common_rows(x, y),
                        .n = outputs,
                        .k = inputs,
                        .a_row = x.columns(),
                        .a_column = 1,
                        .b_row = 1,
                        .b_column = inputs,
                        .c_row = y.columns(),
                        .input = dtype(),
                        .output = y.dtype(),
                        .weights = MatmulKey::Weights::Packed,
                        .bias = weights.bias != nullptr};
    const Matmul& matmul = find(key);
    run(matmul, {x.raw(), y.raw()}, forward_weights_.get(key, matmul, weights), weights.bias);
  }

  void backward_data(const Tensor& d_y, const LinearWeights& weights, const Tensor& d_x, Accumulate accumulate,
                     Arena&) override {
    const auto [inputs, outputs] = shape();
    const MatmulKey key{.m = common_rows(d_y, d_x),
                        .n = inputs,
                        .k = outputs,
                        .a_row = d_y.columns(),
                        .a_column = 1,
                        .b_row = inputs,
                        .b_column = 1,
                        .c_row = d_x.columns(),
                        .input = dtype(),
                        .output = dtype(),
                        .weights = MatmulKey::Weights::Packed,
                        .accumulate = accumulate == Accumulate::Yes};
    const Matmul& matmul = find(key);
    run(matmul, {d_y.raw(), d_x.raw()}, backward_weights_.get(key, matmul, weights), nullptr);
  }

  void backward_weights(const Tensor& x, const Tensor& d_y, float* d_weight, Arena&) override {
    const auto [inputs, outputs] = shape();
    const MatmulKey key{.m = outputs,
                        .n = inputs,
                        .k = common_rows(x, d_y),
                        .a_row = 1,
                        .a_column = d_y.columns(),
                        .b_row = x.columns(),
                        .b_column = 1,
                        .c_row = inputs,
                        .input = dtype(),
                        .output = DType::F32,
                        .accumulate = true};
    const Matmul& matmul = find(key);
    run(matmul, {d_y.raw(), d_weight}, wrap(matmul.b, x.raw()), nullptr);
  }

  std::string implementation_names() const override {
    std::string text;
    for (const std::string& name : names_) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

 private:
  struct Ends {
    const void* a;
    void* c;
  };

  /// Padding rows hold finite activations and zero gradients (Arena::allocate_rows), so computing along them is
  /// harmless.
  static std::int64_t common_rows(const Tensor& a, const Tensor& b) {
    const std::int64_t padded = Arena::padded(a.rows());
    return std::min(a.padded_rows(), b.padded_rows()) >= padded ? padded : a.rows();
  }

  const Matmul& find(const MatmulKey& key) {
    const Matmul& matmul = cache().find_or_make(key);
    names_.insert(matmul.implementation);
    return matmul;
  }

  static void run(const Matmul& matmul, const Ends& ends, const dnnl::memory& weights, const float* bias) {
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, wrap(matmul.a, ends.a)}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, wrap(matmul.c, ends.c)}};
    if (bias != nullptr) {
      arguments.emplace(DNNL_ARG_BIAS, wrap(matmul.bias, bias));
    }
    matmul.primitive.execute(onednn::stream(), arguments);
    onednn::stream().wait();
  }

  PackedWeights forward_weights_;
  PackedWeights backward_weights_;
  std::set<std::string> names_;
};

}  // namespace

std::unique_ptr<Linear::Path> make_primitive_path(const LinearShape& shape, DType dtype) {
  return std::make_unique<PrimitivePath>(shape, dtype);
}

}  // namespace eflops::ops
