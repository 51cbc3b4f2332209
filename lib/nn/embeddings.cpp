#include "nn/embeddings.h"

#include "ops/activation.h"
#include "ops/rows.h"

namespace eflops::nn {

Embeddings::Embeddings(ParameterStore& store, const EmbeddingsOptions& options)
    : options_(options),
      words_(
          store.add({.name = options.name + ".word_embeddings.weight", .shape = {options.vocabulary, options.width}})),
      positions_(store.add(
          {.name = options.name + ".position_embeddings.weight", .shape = {options.positions, options.width}})),
      segments_(store.add(
          {.name = options.name + ".token_type_embeddings.weight", .shape = {options.segments, options.width}})),
      norm_(store, {.name = options.name + ".LayerNorm", .width = options.width, .epsilon = options.epsilon}) {}

ops::Dropout Embeddings::dropout(const Pass& pass) const {
  if (!pass.trains() || options_.dropout == 0.0) return {};
  EFLOPS_CHECK(std::ssize(pass.row_keys) == pass.tokens(), "{} row keys of {} tokens", pass.row_keys.size(),
               pass.tokens());
  return {.probability = static_cast<float>(options_.dropout), .salt = options_.salt, .row_keys = pass.row_keys.data()};
}

Tensor Embeddings::forward(const TokenIds& ids, const Pass& pass) {
  const Tensor sum = pass.arena().allocate_rows({ids.words.rows(), options_.width}, options_.dtype);
  ops::embedding_forward({.table = words_.value(), .rows = options_.vocabulary, .ids = ids.words},
                         {.table = positions_.value(), .rows = options_.positions, .ids = ids.positions},
                         {.table = segments_.value(), .rows = options_.segments, .ids = ids.segments}, sum);
  const Tensor x = norm_.forward(sum, pass);
  ops::dropout_in_place(x, dropout(pass));
  if (pass.trains()) ids_ = ids;
  return x;
}

void Embeddings::backward(const Tensor& d_x, const Pass& pass) {
  ops::dropout_in_place(d_x, dropout(pass));
  const Tensor d_sum = norm_.backward(d_x, pass);
  ops::embedding_backward(d_sum, ids_.segments, segments_.gradient());
  pass.ready(segments_);
  ops::embedding_backward(d_sum, ids_.positions, positions_.gradient());
  pass.ready(positions_);
  ops::embedding_backward(d_sum, ids_.words, words_.gradient());
  pass.ready(words_);
  ids_ = {};
}

void Embeddings::visit_parameters(const ParameterVisitor& visit) const {
  for (const ParameterRef& table : {words_, positions_, segments_}) visit(table);
  norm_.visit_parameters(visit);
}

}  // namespace eflops::nn
