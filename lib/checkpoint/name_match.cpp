#include "checkpoint/name_match.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/hf_config.h"

namespace eflops::checkpoint {
namespace {

constexpr std::string_view kBody = "bert.";

void replace_ending(std::string& name, std::string_view old_ending, std::string_view new_ending) {
  if (name.ends_with(old_ending)) name.replace(name.size() - old_ending.size(), old_ending.size(), new_ending);
}

/// Index buffers that old versions saved with the body; they hold no weights.
bool is_buffer(std::string_view name) {
  return name == "bert.embeddings.position_ids" || name == "bert.embeddings.token_type_ids";
}

bool shape_fits(const TensorView& stored, const WantedTensor& wanted, std::string_view where) {
  if (stored.shape == wanted.shape) return true;
  if (!wanted.rows_may_be_padded || stored.shape.size() != wanted.shape.size() || wanted.shape.empty()) return false;
  if (!std::equal(stored.shape.begin() + 1, stored.shape.end(), wanted.shape.begin() + 1)) return false;
  check_vocabulary_fits(stored.shape[0], wanted.shape[0], fmt::format("{}: {}", where, shown(stored.name)));
  return true;
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string NameMatch::summary() const {
  return fmt::format("{} tensors used; ignored: {}; missing, made anew: {}", used.size(), listed(ignored),
                     listed(missing));
}

std::string canonical_bert_name(std::string_view stored) {
  std::string name(stored);
  replace_ending(name, "LayerNorm.gamma", "LayerNorm.weight");
  replace_ending(name, "LayerNorm.beta", "LayerNorm.bias");
  for (const std::string_view part : {"embeddings.", "encoder.", "pooler."})
    if (name.starts_with(part)) return std::string(kBody) + name;
  return name;
}

NameMatch match_bert_names(std::span<const TensorView> stored, std::span<const WantedTensor> wanted,
                           std::string_view where) {
  std::map<std::string, const TensorView*> unused;
  for (const TensorView& tensor : stored)
    if (const auto [other, is_new] = unused.emplace(canonical_bert_name(tensor.name), &tensor); !is_new)
      throw DataError("{}: tensors {} and {} are the same one", where, shown(other->second->name), shown(tensor.name));

  NameMatch match;
  for (const WantedTensor& want : wanted) {
    const bool required = want.need == WantedTensor::Need::Required;
    const auto found = unused.find(want.name);
    if (found == unused.end() && required)
      throw DataError("{}: no tensor {} {}", where, want.name, shape_text(want.shape));
    const bool fits = found != unused.end() && shape_fits(*found->second, want, where);
    if (found != unused.end() && !fits && required)
      throw DataError("{}: tensor {} has shape {}, this run needs {}", where, shown(found->second->name),
                      shape_text(found->second->shape), shape_text(want.shape));
    match.source.push_back(fits ? found->second : nullptr);
    (fits ? match.used : match.missing).push_back(want.name);
    if (fits) unused.erase(found);
  }
  for (const auto& [name, tensor] : unused) {
    if (name.starts_with(kBody) && !is_buffer(name))
      throw DataError("{}: tensor {} is not part of this model", where, shown(tensor->name));
    match.ignored.push_back(tensor->name);
  }
  return match;
}

}  // namespace eflops::checkpoint
