#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "models/structbert.h"

namespace eflops::models {

/// tests/golden/structbert_tiny: what tests/golden/make_structbert_golden.py wrote.
class Golden {
 public:
  Golden() : bytes_(read_file(folder() + "structbert_tiny.safetensors")) {
    record = parse_json(read_file(folder() + "structbert_tiny.json"), "structbert_tiny.json");
    std::memcpy(&header_size_, bytes_.data(), sizeof(header_size_));
    header_ = parse_json(std::string_view(bytes_).substr(8, header_size_), "structbert_tiny.safetensors");
    const auto& batch = record.at("batch");
    for (const char* key :
         {"tokens", "segments", "positions", "offsets", "predicted_rows", "predicted_labels", "sentence_labels"})
      arrays_[key] = batch.at(key).get<std::vector<std::int32_t>>();
  }

  std::vector<float> tensor(const std::string& name) const {
    const auto& entry = header_.at(name);
    EFLOPS_CHECK(entry.at("dtype") == "F32", "{}", name);
    const std::size_t begin = entry.at("data_offsets")[0];
    const std::size_t end = entry.at("data_offsets")[1];
    std::vector<float> values((end - begin) / sizeof(float));
    std::memcpy(values.data(), bytes_.data() + 8 + header_size_ + begin, end - begin);
    return values;
  }

  StructBertOptions options() const {
    const auto& config = record.at("config");
    StructBertOptions options;
    options.layers = config.at("layers");
    options.hidden = config.at("hidden");
    options.heads = config.at("heads");
    options.intermediate = config.at("intermediate");
    options.vocabulary = config.at("vocabulary");
    options.positions = config.at("positions");
    options.layer_norm_epsilon = config.at("layer_norm_epsilon");
    options.dropout = options.attention_dropout = 0.0;
    return options;
  }

  StructBertInput input() const {
    return {.tokens = arrays_.at("tokens"),
            .segments = arrays_.at("segments"),
            .positions = arrays_.at("positions"),
            .offsets = arrays_.at("offsets"),
            .predicted_rows = arrays_.at("predicted_rows"),
            .predicted_labels = arrays_.at("predicted_labels"),
            .sentence_labels = arrays_.at("sentence_labels"),
            .sample_keys = {}};
  }

  /// 1 / number of labels, as the golden's loss is a sum of two means.
  float masked_scale() const { return 1.0F / 9.0F; }    // 10 predictions, one ignored
  float sentence_scale() const { return 1.0F / 3.0F; }  // 4 sequences, one ignored

  /// Sets a model to the golden's initial parameters.
  void load_initial(StructBert& model) const {
    for (const nn::Parameter& parameter : model.parameters().parameters()) {
      const std::vector<float> values = tensor("initial/" + parameter.name);
      EFLOPS_CHECK(std::ssize(values) == parameter.elements(), "{}", parameter.name);
      std::ranges::copy(values, model.parameters().values_of(parameter).begin());
    }
    model.parameters().refresh();
  }

  Json record;

 private:
  static std::string folder() { return std::string(EFLOPS_SOURCE_DIR) + "/tests/golden/"; }

  std::string bytes_;
  std::uint64_t header_size_ = 0;
  Json header_;
  std::map<std::string, std::vector<std::int32_t>> arrays_;
};

inline double norm(std::span<const float> x) {
  double sum = 0.0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

inline double distance(std::span<const float> a, std::span<const float> b) {
  EFLOPS_CHECK(a.size() == b.size(), "{} and {} elements", a.size(), b.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (static_cast<double>(a[i]) - static_cast<double>(b[i])) *
           (static_cast<double>(a[i]) - static_cast<double>(b[i]));
  return std::sqrt(sum);
}

inline double largest_difference(std::span<const float> a, std::span<const float> b) {
  EFLOPS_CHECK(a.size() == b.size(), "{} and {} elements", a.size(), b.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return worst;
}

}  // namespace eflops::models
