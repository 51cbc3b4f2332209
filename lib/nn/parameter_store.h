#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace eflops::nn {

/// How a parameter starts: normal(0, range) cut at two standard deviations, or a constant.
enum class Init { TruncatedNormal, Zeros, Ones };

/// Where a parameter begins in the flat buffers.
enum class Placement {
  Aligned,   ///< at a cache line
  Adjacent,  ///< right behind the one before: together they can be read as one matrix
};

struct Parameter {
  std::string name;  ///< as Hugging Face names the tensor
  tensor::Shape shape;
  Init init = Init::TruncatedNormal;
  bool decays = true;       ///< weight decay applies: false for biases and LayerNorm
  std::int64_t offset = 0;  ///< first element in the flat buffers
  std::int64_t elements() const { return shape.elements(); }
};

/// A parameter of a store, cheap to copy; valid as long as the store is.
class ParameterRef {
 public:
  ParameterRef() = default;
  ParameterRef(class ParameterStore& store, std::size_t index) : store_(&store), index_(index) {}
  const Parameter& info() const;
  float* value() const;
  /// InternalError when no gradient buffer is bound.
  float* gradient() const;
  std::uint64_t version() const;
  std::size_t index() const { return index_; }

 private:
  ParameterStore* store_ = nullptr;
  std::size_t index_ = 0;
};

/// All parameters of a model in one flat f32 buffer, in the order of registration; gradients lie in a buffer of the
/// same layout that someone else owns. Gaps between parameters hold zeros. Layers register in their constructors, then
/// the model calls initialise() once. Not thread-safe.
class ParameterStore {
 public:
  ParameterStore() = default;
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  struct Specification {
    std::string name;
    tensor::Shape shape;
    Init init = Init::TruncatedNormal;
    bool decays = true;
    Placement placement = Placement::Aligned;
  };
  /// A repeated name, or adding after initialise(), is an InternalError.
  ParameterRef add(const Specification& specification);

  /// Allocates and fills the values. The draws of a parameter depend on seed, its name and the position only, so they
  /// do not change when a model gains or loses others.
  void initialise(std::uint64_t seed, double standard_deviation);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Null when there is none of that name.
  const Parameter* find(std::string_view name) const;
  /// Elements of the flat buffers, gaps included.
  std::int64_t size() const { return size_; }
  /// Elements of the parameters themselves.
  std::int64_t parameter_count() const;

  std::span<float> values() const;
  std::span<float> values_of(const Parameter& parameter) const;
  /// Call after changing values (an optimiser step, a loaded checkpoint): copies made from them are renewed.
  void refresh() { ++version_; }
  std::uint64_t version() const { return version_; }

  /// Backward adds to these size() floats from now on; null unbinds.
  void bind_gradients(float* gradients) { gradients_ = gradients; }
  float* gradients() const { return gradients_; }

  /// Ranges of the flat buffers with and without weight decay, covering them in order: one optimiser call each.
  struct Segment {
    std::int64_t offset = 0;
    std::int64_t count = 0;
    bool decays = true;
  };
  std::vector<Segment> segments() const;

 private:
  std::vector<Parameter> parameters_;
  std::int64_t size_ = 0;
  tensor::Tensor values_;
  float* gradients_ = nullptr;
  std::uint64_t version_ = 1;
};

/// Told of each parameter when its gradient is complete in a backward pass, in an order fixed by the model (DESIGN D1).
using OnReady = std::function<void(const ParameterRef&)>;

/// Visits a layer's parameters.
using ParameterVisitor = std::function<void(const ParameterRef&)>;

}  // namespace eflops::nn
