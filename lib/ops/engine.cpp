#include "ops/engine.h"

#include <fmt/format.h>

#include "ops/onednn_compat.h"

namespace eflops::ops {
namespace onednn {

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  static dnnl::stream in_order(engine());
  return in_order;
}

}  // namespace onednn

namespace {

Bf16Support probe_bf16() {
  using dnnl::memory;
  const memory::desc matrix({64, 64}, memory::data_type::bf16, memory::format_tag::ab);
  const memory::desc sum({64, 64}, memory::data_type::f32, memory::format_tag::ab);
  // AVX-512 without bf16 instructions is offered an emulation by oneDNN itself; only real instructions count as native.
  const auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  const auto present = static_cast<unsigned>(dnnl::get_effective_cpu_isa());  // a set of bits
  if ((present & wanted) != wanted) return Bf16Support::Emulated;
  try {
    onednn::make_matmul({.source = matrix, .weights = matrix, .bias = {}, .destination = sum, .attributes = {}},
                        onednn::engine());
    return Bf16Support::Native;
  } catch (const dnnl::error&) {  // how oneDNN says that it has no such primitive
    return Bf16Support::Emulated;
  }
}

}  // namespace

Bf16Support bf16_support() {
  static const Bf16Support support = probe_bf16();
  return support;
}

std::string_view bf16_support_name(Bf16Support support) {
  return support == Bf16Support::Native ? "native" : "emulated";
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace eflops::ops
