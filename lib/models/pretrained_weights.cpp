#include "models/pretrained_weights.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"

namespace eflops::models {
namespace {

namespace fs = std::filesystem;
using checkpoint::NameMatch;
using checkpoint::TensorView;
using checkpoint::WantedTensor;

constexpr std::string_view kWords = "bert.embeddings.word_embeddings.weight";
constexpr std::string_view kMaskedBias = "cls.predictions.bias";
constexpr std::string_view kDecoder = "cls.predictions.decoder.weight";
constexpr std::array<std::string_view, 4> kFloats{"F32", "F16", "BF16", "F64"};
constexpr std::string_view kDecoderBias = "cls.predictions.decoder.bias";  // the same vector where tied

WantedTensor wanted(const nn::Parameter& parameter) {
  const std::string& name = parameter.name;
  const bool encoder = name.starts_with("bert.") && !name.starts_with("bert.pooler.");
  WantedTensor want{.name = name,
                    .need = encoder ? WantedTensor::Need::Required : WantedTensor::Need::Optional,
                    .rows_may_be_padded = name == kWords || name == kMaskedBias};
  for (std::size_t axis = 0; axis < parameter.shape.rank(); ++axis) want.shape.push_back(parameter.shape[axis]);
  return want;
}

const TensorView* find(std::span<const TensorView> tensors, std::string_view canonical) {
  const auto found = std::ranges::find_if(tensors, [canonical](const TensorView& tensor) {
    return checkpoint::canonical_bert_name(tensor.name) == canonical;
  });
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace

PretrainedWeights::PretrainedWeights(const fs::path& folder)
    : folder_(folder), config_(checkpoint::read_bert_config(folder)) {
  add(folder);
  if (const fs::path heads = folder / "trainer" / "heads.safetensors"; fs::exists(heads)) add(heads);
  if (find(tensors_, kMaskedBias) == nullptr)
    for (TensorView& tensor : tensors_)
      if (tensor.name == kDecoderBias) tensor.name = kMaskedBias;
}

void PretrainedWeights::add(const fs::path& file_or_folder) {
  const checkpoint::WeightFiles& files = files_.emplace_back(file_or_folder);
  tensors_.insert(tensors_.end(), files.tensors().begin(), files.tensors().end());
}

std::string PretrainedWeights::checksum() const {
  std::vector<const TensorView*> ordered;
  for (const TensorView& tensor : tensors_) ordered.push_back(&tensor);
  std::ranges::sort(ordered, {}, &TensorView::name);
  std::uint64_t sum = 0;
  for (const TensorView* tensor : ordered) {
    sum = hash64(fmt::format("{} {} {}", tensor->name, tensor->dtype, checkpoint::shape_text(tensor->shape)), sum);
    sum = hash64(tensor->bytes, sum);
  }
  return hex64(sum);
}

NameMatch PretrainedWeights::load(nn::ParameterStore& store) const {
  NameMatch match =
      read(store.parameters(), [&store](const nn::Parameter& parameter) { return store.values_of(parameter); });
  store.refresh();
  return match;
}

NameMatch PretrainedWeights::check(std::span<const nn::Parameter> parameters) const {
  std::vector<float> scratch;
  return read(parameters, [&scratch](const nn::Parameter& parameter) {
    scratch.resize(static_cast<std::size_t>(parameter.elements()));
    return std::span<float>(scratch);
  });
}

NameMatch PretrainedWeights::read(std::span<const nn::Parameter> parameters, const Target& target) const {
  std::vector<WantedTensor> all;
  for (const nn::Parameter& parameter : parameters) all.push_back(wanted(parameter));
  std::vector<TensorView> offered;
  std::vector<std::string> left_out;
  for (const TensorView& tensor : tensors_) {
    if (!left_out_.empty() && tensor.name.starts_with(left_out_))
      left_out.push_back(tensor.name);
    else
      offered.push_back(tensor);
  }
  NameMatch match = checkpoint::match_bert_names(offered, all, file_of({}));
  match.ignored.insert(match.ignored.end(), left_out.begin(), left_out.end());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (match.source[i] == nullptr) continue;
    TensorView stored = *match.source[i];
    match.source[i] = nullptr;  // it points into `offered`
    const std::span<float> out = target(parameters[i]);
    if (stored.shape != all[i].shape) {  // padded rows stay out
      stored.shape = all[i].shape;
      stored.bytes = stored.bytes.first(out.size() * static_cast<std::size_t>(checkpoint::dtype_size(stored.dtype)));
    }
    read_tensor(stored, out);
  }
  warn_of_untied_decoder();
  return match;
}

void PretrainedWeights::read_tensor(const TensorView& stored, std::span<float> out) const {
  const std::string name = shown(stored.name);
  if (std::ranges::find(kFloats, stored.dtype) == kFloats.end())
    throw DataError("{}: tensor {} has type {}, expected {}", file_of(stored), name, stored.dtype,
                    fmt::join(kFloats, ", "));
  checkpoint::copy_as_float(stored, out);
  const auto bad = std::ranges::find_if(out, [](float value) { return !std::isfinite(value); });
  if (bad != out.end())
    throw DataError("{}: tensor {} is {} at element {}, weights must be finite", file_of(stored), name, *bad,
                    bad - out.begin());
}

std::string PretrainedWeights::file_of(const TensorView& tensor) const {
  if (files_.size() > 1 && files_[1].find(tensor.name) != nullptr) return files_[1].path().string();
  const fs::path whole = folder_ / "model.safetensors";
  return (fs::exists(whole) ? whole : folder_ / "model.safetensors.index.json").string();
}

void PretrainedWeights::warn_of_untied_decoder() const {
  const TensorView* decoder = find(tensors_, kDecoder);
  const TensorView* words = find(tensors_, kWords);
  if (decoder == nullptr || words == nullptr) return;
  if (decoder->dtype == words->dtype && std::ranges::equal(decoder->bytes, words->bytes)) return;
  log::warning("{}: {} differs from the word embeddings; it is ignored, as this model ties the two", folder_.string(),
               kDecoder);
}

}  // namespace eflops::models
