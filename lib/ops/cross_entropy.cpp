#include "ops/cross_entropy.h"

#include <algorithm>

#include "kernels/cross_entropy.h"

namespace eflops::ops {

static_assert(kIgnoredLabel == kernels::kIgnoredLabel);

double cross_entropy(const tensor::Tensor& logits, std::int64_t classes, std::span<const std::int32_t> labels,
                     std::optional<float> gradient_scale, const RowResults& rows) {
  const std::int64_t count = logits.rows();
  EFLOPS_CHECK(std::ssize(labels) == count && std::ssize(rows.loss) == count && std::ssize(rows.argmax) == count,
               "{} labels for logits {}", labels.size(), logits.shape().to_string());
  const kernels::MatrixShape shape{.rows = count, .columns = classes, .stride = logits.columns()};
  const kernels::CrossEntropyRows results{.loss = rows.loss.data(), .argmax = rows.argmax.data()};
  auto* values = logits.data<float>();
  const kernels::CrossEntropyTotals totals =
      gradient_scale ? kernels::cross_entropy_with_gradient(values, shape, labels.data(), *gradient_scale, results)
                     : kernels::cross_entropy(values, shape, labels.data(), results);
  const std::int64_t padding = (logits.padded_rows() - count) * logits.columns();
  if (gradient_scale) std::fill_n(values + logits.elements(), padding, 0.0F);
  return totals.loss;
}

}  // namespace eflops::ops
