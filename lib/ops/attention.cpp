#include "ops/attention.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/convert.h"
#include "kernels/dropout.h"
#include "kernels/softmax.h"
#include "ops/gemm.h"

namespace eflops::ops {
namespace {

using kernels::MatrixShape;
using tensor::Arena;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Scores of a block of queries stay in the second-level cache.
constexpr std::int64_t kScoreElements = 32768;
constexpr std::int64_t kMinQueryBlock = 16;

std::int64_t query_block(std::int64_t length) {
  return std::min(length, std::max(kMinQueryBlock, kScoreElements / std::max<std::int64_t>(length, 1)));
}

/// One head of one sequence.
struct Task {
  std::int64_t head = 0;
  std::int64_t first = 0;  ///< row of the sequence's first token
  std::int64_t length = 0;
};

/// Tasks are ordered by head, so that equal shares of them hold sequences of all lengths.
class Tasks {
 public:
  Tasks(const AttentionBatch& batch, std::int64_t heads)
      : offsets_(batch.offsets), sequences_(std::ssize(batch.offsets) - 1), heads_(heads) {
    EFLOPS_CHECK(sequences_ >= 0, "offsets need at least one element");
    for (std::int64_t i = 0; i < sequences_; ++i) longest_ = std::max(longest_, at(i + 1) - at(i));
  }
  std::int64_t count() const { return sequences_ * heads_; }
  std::int64_t tokens() const { return at(sequences_); }
  std::int64_t longest() const { return longest_; }
  Task operator[](std::int64_t index) const {
    const std::int64_t sequence = index % sequences_;
    return {.head = index / sequences_, .first = at(sequence), .length = at(sequence + 1) - at(sequence)};
  }
  /// Runs body(task, workspace) for all tasks; each thread has `elements` floats of its own.
  template <typename Body>
  void run(std::int64_t elements, Arena& scratch, const Body& body) const {
    if (count() == 0) return;
    const std::int64_t grain = (count() + thread_count() - 1) / thread_count();
    const std::int64_t slots = (count() + grain - 1) / grain;
    const Tensor workspace = scratch.allocate({slots, elements}, DType::F32);
    parallel_for(count(), grain, [&](std::int64_t begin, std::int64_t end) {
      auto* mine = workspace.data<float>() + begin / grain * elements;
      for (std::int64_t i = begin; i < end; ++i)
        if ((*this)[i].length > 0) body((*this)[i], mine);
    });
  }

 private:
  std::int64_t at(std::int64_t i) const { return offsets_[static_cast<std::size_t>(i)]; }
  std::span<const std::int32_t> offsets_;
  std::int64_t sequences_;
  std::int64_t heads_;
  std::int64_t longest_ = 0;
};

/// Elements of the largest block of scores among all tasks.
std::int64_t score_elements(const Tasks& tasks) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < tasks.count(); ++i)
    most = std::max(most, query_block(tasks[i].length) * tasks[i].length);
  return most;
}

/// One head's columns of one sequence: `length` rows that lie `stride` apart.
template <typename T>
struct HeadView {
  T* data = nullptr;
  std::int64_t stride = 0;

  HeadView from_row(std::int64_t row) const { return {data + row * stride, stride}; }
  GemmInput plain() const { return {.data = data, .stride = stride}; }
  GemmInput transposed() const { return {.data = data, .stride = stride, .transpose = Transpose::Yes}; }
  GemmOutput output(Accumulate accumulate) const { return {.data = data, .stride = stride, .accumulate = accumulate}; }
};

/// q, k or v of one task.
template <typename T>
HeadView<T> head_of(T* qkv, std::int64_t stride, const Task& task, std::int64_t column) {
  return {qkv + task.first * stride + column, stride};
}

/// What one task reads.
class Head {
 public:
  Head(const Tensor& qkv, const AttentionOptions& options, const AttentionBatch& batch, const Task& task)
      : task_(task), head_size_(options.head_size), scale_(1.0F / std::sqrt(static_cast<float>(options.head_size))) {
    const std::int64_t width = options.heads * options.head_size;
    const float* elements = qkv.data<float>();
    q = head_of(elements, qkv.columns(), task, task.head * head_size_);
    k = head_of(elements, qkv.columns(), task, width + task.head * head_size_);
    v = head_of(elements, qkv.columns(), task, 2 * width + task.head * head_size_);
    if (options.dropout > 0.0F && batch.row_keys != nullptr)
      dropout_ = {.probability = options.dropout,
                  .salt = options.salt + static_cast<std::uint64_t>(task.head),
                  .row_keys = batch.row_keys + task.first};
  }

  float scale() const { return scale_; }
  bool drops() const { return dropout_.probability > 0.0F; }
  MatrixShape scores(std::int64_t rows) const { return {.rows = rows, .columns = task_.length}; }

  /// p [rows, length] = softmax(scale·q·kᵀ) of the queries from `first` on.
  void probabilities(std::int64_t first, std::int64_t rows, float* p) const {
    gemm_f32({.m = rows, .n = task_.length, .k = head_size_}, q.from_row(first).plain(), k.transposed(),
             {.data = p, .stride = task_.length});
    kernels::softmax_forward(p, scores(rows), scale_);
  }
  /// to = mask(from) / (1 - dropout) of the queries from `first` on; forward and backward alike.
  void drop(std::int64_t first, std::int64_t rows, const float* from, float* to) const {
    kernels::Dropout dropout = dropout_;
    dropout.row_keys += first;
    kernels::dropout_forward(from, to, scores(rows), dropout);
  }

  HeadView<const float> q, k, v;

 private:
  Task task_;
  std::int64_t head_size_;
  float scale_;
  kernels::Dropout dropout_;
};

void forward_task(const Head& head, const Task& task, std::int64_t head_size, const HeadView<float>& context,
                  float* work) {
  const std::int64_t block = query_block(task.length);
  for (std::int64_t first = 0; first < task.length; first += block) {
    const std::int64_t rows = std::min(block, task.length - first);
    head.probabilities(first, rows, work);
    if (head.drops()) head.drop(first, rows, work, work);
    gemm_f32({.m = rows, .n = head_size, .k = task.length}, {.data = work, .stride = task.length}, head.v.plain(),
             context.from_row(first).output(Accumulate::No));
  }
}

struct HeadGradients {
  HeadView<const float> d_context;
  HeadView<float> d_q, d_k, d_v;
};

/// With P the probabilities, M the mask and O = (M∘P)·v: d_v = (M∘P)ᵀ·d_O, d_P = M∘(d_O·vᵀ), d_S by the softmax's rule,
/// d_q = d_S·k, d_k = d_Sᵀ·q.
void backward_task(const Head& head, const Task& task, std::int64_t head_size, const HeadGradients& gradients,
                   float* work) {
  const std::int64_t length = task.length;
  const std::int64_t block = query_block(length);
  float* p = work;
  float* d_p = work + block * length;
  float* dropped = head.drops() ? work + 2 * block * length : p;
  for (std::int64_t first = 0; first < length; first += block) {
    const std::int64_t rows = std::min(block, length - first);
    const Accumulate later = first == 0 ? Accumulate::No : Accumulate::Yes;
    const GemmInput d_out = gradients.d_context.from_row(first).plain();
    head.probabilities(first, rows, p);
    if (head.drops()) head.drop(first, rows, p, dropped);
    gemm_f32({.m = length, .n = head_size, .k = rows}, {.data = dropped, .stride = length, .transpose = Transpose::Yes},
             d_out, gradients.d_v.output(later));
    gemm_f32({.m = rows, .n = length, .k = head_size}, d_out, head.v.transposed(), {.data = d_p, .stride = length});
    if (head.drops()) head.drop(first, rows, d_p, d_p);
    kernels::softmax_backward(p, d_p, d_p, head.scores(rows), head.scale());
    const GemmInput d_scores{.data = d_p, .stride = length};
    gemm_f32({.m = rows, .n = head_size, .k = length}, d_scores, head.k.plain(),
             gradients.d_q.from_row(first).output(Accumulate::No));
    gemm_f32({.m = length, .n = head_size, .k = rows}, {.data = d_p, .stride = length, .transpose = Transpose::Yes},
             head.q.from_row(first).plain(), gradients.d_k.output(later));
  }
}

/// The tensor itself, or an f32 copy of a bf16 one.
Tensor as_float(const Tensor& tensor, Arena& scratch) {
  if (tensor.dtype() == DType::F32) return tensor;
  const Tensor wide = scratch.allocate(tensor.shape(), DType::F32);
  kernels::to_float(tensor.data<bf16>(), wide.data<float>(), tensor.elements());
  return wide;
}

/// The tensor itself, or an f32 buffer of its shape whose content goes to it by `store`.
Tensor float_buffer(const Tensor& tensor, Arena& scratch) {
  return tensor.dtype() == DType::F32 ? tensor : scratch.allocate(tensor.shape(), DType::F32);
}

void store(const Tensor& buffer, const Tensor& tensor) {
  if (tensor.dtype() == DType::BF16) kernels::to_bf16(buffer.data<float>(), tensor.data<bf16>(), tensor.elements());
}

void check_shapes(const Tensor& qkv, const Tensor& context, const AttentionOptions& options, const Tasks& tasks) {
  const std::int64_t width = options.heads * options.head_size;
  EFLOPS_CHECK(qkv.columns() >= 3 * width && context.columns() >= width, "qkv {}, context {}, width {}",
               qkv.shape().to_string(), context.shape().to_string(), width);
  EFLOPS_CHECK(qkv.rows() == tasks.tokens() && context.rows() == tasks.tokens(),
               "qkv {}, context {}, offsets end at {}", qkv.shape().to_string(), context.shape().to_string(),
               tasks.tokens());
}

}  // namespace

Attention::Attention(const AttentionOptions& options) : options_(options) {
  EFLOPS_CHECK(options.heads > 0 && options.head_size > 0, "{} heads of {}", options.heads, options.head_size);
}

void Attention::forward(const Tensor& qkv, const AttentionBatch& batch, const Tensor& context, Arena& scratch) const {
  const Tasks tasks(batch, options_.heads);
  check_shapes(qkv, context, options_, tasks);
  const tensor::ArenaScope scope(scratch);
  const Tensor input = as_float(qkv, scratch);
  const Tensor output = float_buffer(context, scratch);
  tasks.run(score_elements(tasks), scratch, [&](const Task& task, float* work) {
    const Head head(input, options_, batch, task);
    forward_task(head, task, options_.head_size,
                 head_of(output.data<float>(), output.columns(), task, task.head * options_.head_size), work);
  });
  store(output, context);
}

void Attention::backward(const Tensor& qkv, const Tensor& d_context, const AttentionBatch& batch, const Tensor& d_qkv,
                         Arena& scratch) const {
  const Tasks tasks(batch, options_.heads);
  check_shapes(qkv, d_context, options_, tasks);
  check_shapes(d_qkv, d_context, options_, tasks);
  const std::int64_t width = options_.heads * options_.head_size;
  const tensor::ArenaScope scope(scratch);
  const Tensor input = as_float(qkv, scratch);
  const Tensor d_output = as_float(d_context, scratch);
  const Tensor d_input = float_buffer(d_qkv, scratch);
  tasks.run(3 * score_elements(tasks), scratch, [&](const Task& task, float* work) {
    const std::int64_t column = task.head * options_.head_size;
    auto* gradients = d_input.data<float>();
    const std::int64_t stride = d_input.columns();
    const float* upstream = d_output.data<float>();
    backward_task(Head(input, options_, batch, task), task, options_.head_size,
                  {.d_context = head_of(upstream, d_output.columns(), task, column),
                   .d_q = head_of(gradients, stride, task, column),
                   .d_k = head_of(gradients, stride, task, width + column),
                   .d_v = head_of(gradients, stride, task, 2 * width + column)},
                  work);
  });
  store(d_input, d_qkv);
}

}  // namespace eflops::ops
