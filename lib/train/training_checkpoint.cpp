#include "train/training_checkpoint.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"

namespace eflops::train {
namespace {

namespace fs = std::filesystem;
using checkpoint::TensorView;

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kHeads = "trainer/heads.safetensors";
constexpr const char* kMoments = "trainer/optimizer.safetensors";
constexpr const char* kState = "trainer/state.json";
const checkpoint::Metadata kTorchFormat{{"format", "pt"}};

std::vector<std::int64_t> shape_of(const nn::Parameter& parameter) {
  std::vector<std::int64_t> shape;
  for (std::size_t axis = 0; axis < parameter.shape.rank(); ++axis) shape.push_back(parameter.shape[axis]);
  return shape;
}

std::span<float> part(std::span<float> flat, const nn::Parameter& parameter) {
  return flat.subspan(static_cast<std::size_t>(parameter.offset), static_cast<std::size_t>(parameter.elements()));
}

TensorView view(const std::string& name, const nn::Parameter& parameter, std::span<float> flat) {
  return checkpoint::float_view(name, shape_of(parameter), part(flat, parameter));
}

void read_tensor(const checkpoint::WeightFiles& files, const std::string& name, const nn::Parameter& parameter,
                 std::span<float> flat) {
  const TensorView& stored = files.at(name);
  if (stored.shape != shape_of(parameter))
    throw DataError("{}: {} is {}, the model's is {}", files.path().string(), name,
                    checkpoint::shape_text(stored.shape), checkpoint::shape_text(shape_of(parameter)));
  checkpoint::copy_as_float(stored, part(flat, parameter));
}

Json to_json(const RunIdentity& identity) {
  Json json;
  json["config_hash"] = identity.config_hash;
  json["tokenizer_hash"] = identity.tokenizer_hash;
  json["cpu"] = identity.cpu;
  json["onednn"] = identity.onednn;
  json["git_commit"] = identity.git_commit;
  json["threads"] = identity.threads;
  return json;
}

TrainerState state_from_json(const Json& json, const std::string& where) {
  try {
    TrainerState state;
    state.step = json.at("step");
    state.optimizer_step = json.at("optimizer_step");
    state.tokens = json.at("tokens");
    state.samples = json.at("samples");
    state.seconds = json.at("seconds");
    state.data_position = to_json_line(json.at("data_position"));
    const Json& identity = json.at("identity");
    state.identity = {identity.at("config_hash"), identity.at("tokenizer_hash"), identity.at("cpu"),
                      identity.at("onednn"),      identity.at("git_commit"),     identity.at("threads")};
    return state;
  } catch (const Json::exception& error) {
    throw DataError("{}: not a trainer state: {}", where, error.what());
  }
}

}  // namespace

std::vector<std::string> RunIdentity::differences(const RunIdentity& now) const {
  std::vector<std::string> found;
  const auto compare = [&found](std::string_view name, const auto& was, const auto& is) {
    if (was != is) found.push_back(fmt::format("{}: was {}, now {}", name, was, is));
  };
  compare("CPU", cpu, now.cpu);
  compare("oneDNN", onednn, now.onednn);
  compare("commit", git_commit, now.git_commit);
  compare("threads", threads, now.threads);
  return found;
}

void write_training_state(const fs::path& folder, const nn::ParameterStore& parameters, const Moments& moments,
                          const TrainerState& state, const OursAlone& ours_alone) {
  std::vector<TensorView> weights;
  std::vector<TensorView> heads;
  std::vector<TensorView> optimizer;
  for (const nn::Parameter& parameter : parameters.parameters()) {
    auto& target = ours_alone(parameter) ? heads : weights;
    target.push_back(view(parameter.name, parameter, parameters.values()));
    optimizer.push_back(view("m." + parameter.name, parameter, moments.m));
    optimizer.push_back(view("v." + parameter.name, parameter, moments.v));
  }
  checkpoint::write_safetensors(folder / kWeights, weights, kTorchFormat);
  if (!heads.empty()) checkpoint::write_safetensors(folder / kHeads, heads, kTorchFormat);
  checkpoint::write_safetensors(folder / kMoments, optimizer);
  Json json;
  json["step"] = state.step;
  json["optimizer_step"] = state.optimizer_step;
  json["tokens"] = state.tokens;
  json["samples"] = state.samples;
  json["seconds"] = state.seconds;
  json["data_position"] = parse_json(state.data_position, "data position");
  json["identity"] = to_json(state.identity);
  write_file_atomically(folder / kState, json.dump(2) + "\n");
}

TrainerState read_training_state(const fs::path& folder, nn::ParameterStore& parameters, const Moments& moments) {
  const std::string where = (folder / kState).string();
  TrainerState state = state_from_json(parse_json(read_file(folder / kState), where), where);
  const checkpoint::WeightFiles weights(folder / kWeights);
  std::unique_ptr<checkpoint::WeightFiles> heads;
  if (fs::exists(folder / kHeads)) heads = std::make_unique<checkpoint::WeightFiles>(folder / kHeads);
  const checkpoint::WeightFiles optimizer(folder / kMoments);
  std::set<std::string_view> used;
  for (const nn::Parameter& parameter : parameters.parameters()) {
    const bool in_heads = heads && heads->find(parameter.name) != nullptr;
    read_tensor(in_heads ? *heads : weights, parameter.name, parameter, parameters.values());
    read_tensor(optimizer, "m." + parameter.name, parameter, moments.m);
    read_tensor(optimizer, "v." + parameter.name, parameter, moments.v);
    used.insert(parameter.name);
  }
  for (const TensorView& stored : weights.tensors())
    if (!used.contains(stored.name))
      throw DataError("{}: {} belongs to no parameter of the model", weights.path().string(), stored.name);
  parameters.refresh();
  return state;
}

}  // namespace eflops::train
