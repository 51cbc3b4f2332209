#include "nn/parameter_store.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"

namespace eflops::nn {
namespace {

constexpr std::int64_t kLine = tensor::kAlignment / static_cast<std::int64_t>(sizeof(float));

// Draws come in blocks with a stream each, so that threads can share the work.
constexpr std::int64_t kDrawBlock = 4096;

void fill_truncated_normal(std::span<float> values, std::uint64_t seed, std::uint64_t name_hash, double deviation) {
  parallel_for(std::ssize(values), kDrawBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += kDrawBlock) {
      Random random(seed, Purpose::Initialisation, name_hash, static_cast<std::uint64_t>(first / kDrawBlock));
      for (std::int64_t i = first; i < std::min(end, first + kDrawBlock); ++i)
        values[static_cast<std::size_t>(i)] = static_cast<float>(deviation * random.truncated_normal());
    }
  });
}

}  // namespace

const Parameter& ParameterRef::info() const { return store_->parameters()[index_]; }
float* ParameterRef::value() const { return store_->values().data() + info().offset; }
float* ParameterRef::gradient() const {
  EFLOPS_CHECK(store_->gradients() != nullptr, "no gradient buffer is bound for {}", info().name);
  return store_->gradients() + info().offset;
}
std::uint64_t ParameterRef::version() const { return store_->version(); }

ParameterRef ParameterStore::add(const Specification& specification) {
  EFLOPS_CHECK(values_.empty(), "parameter {} added after initialise()", specification.name);
  EFLOPS_CHECK(find(specification.name) == nullptr, "parameter {} exists", specification.name);
  if (specification.placement == Placement::Aligned) size_ = (size_ + kLine - 1) / kLine * kLine;
  parameters_.push_back({.name = specification.name,
                         .shape = specification.shape,
                         .init = specification.init,
                         .decays = specification.decays,
                         .offset = size_});
  size_ += specification.shape.elements();
  return {*this, parameters_.size() - 1};
}

void ParameterStore::initialise(std::uint64_t seed, double standard_deviation) {
  EFLOPS_CHECK(values_.empty(), "initialised twice");
  values_ = tensor::Tensor::zeros({size_}, tensor::DType::F32);
  for (const Parameter& parameter : parameters_) {
    const std::span<float> values = values_of(parameter);
    if (parameter.init == Init::Ones) std::ranges::fill(values, 1.0F);
    if (parameter.init == Init::TruncatedNormal)
      fill_truncated_normal(values, seed, hash64(std::string_view(parameter.name)), standard_deviation);
  }
}

const Parameter* ParameterStore::find(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? nullptr : &*found;
}

std::int64_t ParameterStore::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters_) count += parameter.elements();
  return count;
}

std::span<float> ParameterStore::values() const { return values_.values<float>(); }

std::span<float> ParameterStore::values_of(const Parameter& parameter) const {
  return values().subspan(static_cast<std::size_t>(parameter.offset), static_cast<std::size_t>(parameter.elements()));
}

std::vector<ParameterStore::Segment> ParameterStore::segments() const {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::int64_t end = i + 1 < parameters_.size() ? parameters_[i + 1].offset : size_;
    const std::int64_t count = end - parameters_[i].offset;
    if (!segments.empty() && segments.back().decays == parameters_[i].decays)
      segments.back().count += count;
    else
      segments.push_back({.offset = parameters_[i].offset, .count = count, .decays = parameters_[i].decays});
  }
  return segments;
}

}  // namespace eflops::nn
