#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <string>

// The one place that knows oneDNN 2.x from 3.x (DESIGN D4): 2.x builds primitive descriptors from operation
// descriptors, 3.x directly. Included by ops/*.cpp only.
namespace eflops::ops::onednn {

/// Operands of one matrix product, described.
struct MatmulDescription {
  dnnl::memory::desc source;
  dnnl::memory::desc weights;
  dnnl::memory::desc bias;  ///< zero descriptor: no bias
  dnnl::memory::desc destination;
  dnnl::primitive_attr attributes;
};

inline bool is_zero(const dnnl::memory::desc& description) { return description == dnnl::memory::desc(); }

#if DNNL_VERSION_MAJOR >= 3
inline dnnl::matmul::primitive_desc make_matmul(const MatmulDescription& d, const dnnl::engine& engine) {
  if (is_zero(d.bias)) return {engine, d.source, d.weights, d.destination, d.attributes};
  return {engine, d.source, d.weights, d.bias, d.destination, d.attributes};
}
#else
inline dnnl::matmul::primitive_desc make_matmul(const MatmulDescription& d, const dnnl::engine& engine) {
  if (is_zero(d.bias)) return {dnnl::matmul::desc(d.source, d.weights, d.destination), d.attributes, engine};
  return {dnnl::matmul::desc(d.source, d.weights, d.bias, d.destination), d.attributes, engine};
}
#endif

/// The process's CPU engine and stream. Primitives are run from one thread at a time.
dnnl::engine& engine();
dnnl::stream& stream();

}  // namespace eflops::ops::onednn
