#include "train/gradient_tree.h"

#include <bit>
#include <utility>

#include "base/error.h"
#include "kernels/elementwise.h"

namespace eflops::train {

GradientTree::GradientTree(std::int64_t elements, std::int64_t shards) : elements_(elements), shards_(shards) {
  if (shards < 1 || !std::has_single_bit(static_cast<std::uint64_t>(shards)))
    throw ConfigError("shards {} is not a power of two", shards);
}

void GradientTree::reset() {
  for (tensor::Tensor& sum : sums_) spare_.push_back(std::move(sum));
  sums_.clear();
  leaves_ = 0;
  if (!leaf_.empty()) spare_.push_back(std::exchange(leaf_, {}));
}

float* GradientTree::leaf() {
  EFLOPS_CHECK(leaves_ < shards_, "leaf {} of {}", leaves_ + 1, shards_);
  if (leaf_.empty()) {
    if (spare_.empty()) {
      leaf_ = tensor::Tensor::zeros({elements_}, tensor::DType::F32);
    } else {
      leaf_ = std::move(spare_.back());
      spare_.pop_back();
      kernels::fill(leaf_.values<float>().data(), 0.0F, elements_);
    }
  }
  return leaf_.values<float>().data();
}

void GradientTree::add_leaf() {
  EFLOPS_CHECK(!leaf_.empty(), "no leaf was handed out");
  sums_.push_back(std::exchange(leaf_, {}));
  // As many carries as the counter before this leaf has trailing ones.
  for (std::int64_t count = leaves_++; count % 2 == 1; count /= 2) {
    tensor::Tensor right = std::move(sums_.back());
    sums_.pop_back();
    kernels::add_into(sums_.back().values<float>().data(), right.values<float>().data(), elements_);
    spare_.push_back(std::move(right));
  }
}

std::span<float> GradientTree::sum() {
  EFLOPS_CHECK(leaves_ == shards_, "{} of {} shards are there", leaves_, shards_);
  return sums_.front().values<float>();
}

}  // namespace eflops::train
