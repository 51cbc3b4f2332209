#include "programs/pretrain_init.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/directory.h"
#include "config/yaml_file.h"

namespace eflops::programs {
namespace {

namespace fs = std::filesystem;
using checkpoint::BertConfig;
using models::PretrainedWeights;
using models::StructBertOptions;

constexpr const char* kChecksum = "init_checksum";

struct SizeKey {
  const char* path;  ///< of the option
  const char* key;   ///< of config.json
  std::int64_t StructBertOptions::*ours;
  std::int64_t BertConfig::*theirs;
  bool named = false;  ///< a model_size sets it
};

constexpr SizeKey kSizes[] = {
    {"model.layers", "num_hidden_layers", &StructBertOptions::layers, &BertConfig::num_hidden_layers, true},
    {"model.hidden", "hidden_size", &StructBertOptions::hidden, &BertConfig::hidden_size, true},
    {"model.heads", "num_attention_heads", &StructBertOptions::heads, &BertConfig::num_attention_heads, true},
    {"model.intermediate", "intermediate_size", &StructBertOptions::intermediate, &BertConfig::intermediate_size, true},
    {"model.positions", "max_position_embeddings", &StructBertOptions::positions, &BertConfig::max_position_embeddings},
    {"model.segments", "type_vocab_size", &StructBertOptions::segments, &BertConfig::type_vocab_size}};

/// An option's value beside the directory's: what was given must agree.
struct Pair {
  std::string path, key;
  std::string ours, theirs;
  std::string given;  ///< where the option was set; empty: take theirs
};

bool takes_theirs(const Pair& pair, const std::string& file, OptionSources& sources) {
  if (pair.given.empty()) {
    sources[pair.path] = file;
    return true;
  }
  if (pair.ours != pair.theirs)
    throw ConfigError("{} is {} ({}), but {} of {} is {}: leave the option out to start from that directory", pair.path,
                      pair.ours, pair.given, pair.key, file, pair.theirs);
  return false;
}

std::string place_of(const OptionSources& sources, const std::string& path) {
  const auto found = sources.find(path);
  return found == sources.end() ? "" : found->second;
}

void take_architecture(const PretrainedWeights& init, PretrainOptions& options, OptionSources& sources) {
  const BertConfig& config = init.config();
  const std::string file = init.config_file();
  std::string named;
  StructBertOptions asked = options.model;
  if (sources.contains("model_size") && options.model_size != models::StructBertSize::Custom) {
    named = fmt::format("model_size {}, {}", choice_name(options.model_size), sources.at("model_size"));
    asked.set_size(options.model_size);
  } else {
    options.model_size = models::StructBertSize::Custom;
  }
  for (const SizeKey& size : kSizes) {
    const std::int64_t theirs = config.*size.theirs;
    const std::string given = size.named && !named.empty() ? named : place_of(sources, size.path);
    if (takes_theirs({size.path, size.key, fmt::format("{}", asked.*size.ours), fmt::format("{}", theirs), given}, file,
                     sources))
      options.model.*size.ours = theirs;
  }
  const models::Gelu gelu = config.hidden_act == checkpoint::Activation::Gelu ? models::Gelu::Erf : models::Gelu::Tanh;
  if (takes_theirs({"model.gelu", "hidden_act", std::string(choice_name(asked.gelu)), std::string(choice_name(gelu)),
                    place_of(sources, "model.gelu")},
                   file, sources))
    options.model.gelu = gelu;
  const double epsilon = config.layer_norm_eps;
  if (takes_theirs({"model.layer_norm_epsilon", "layer_norm_eps", fmt::format("{}", asked.layer_norm_epsilon),
                    fmt::format("{}", epsilon), place_of(sources, "model.layer_norm_epsilon")},
                   file, sources))
    options.model.layer_norm_epsilon = epsilon;
}

// What the run that is gone on with was made of, for a directory that was moved or removed since.
bool take_recorded(PretrainOptions& options, const OptionSources& sources, const fs::path& run) {
  const config::YamlFile recorded = config::read_yaml(run / "config.yaml");
  const auto checksum = std::ranges::find(recorded.assignments, kChecksum, &Assignment::path);
  if (checksum == recorded.assignments.end() || checksum->values.empty() || checksum->values[0].empty()) return false;
  for (const Assignment& assignment : recorded.assignments) {
    const bool ours =
        assignment.path.starts_with("model.") || assignment.path == "model_size" || assignment.path == kChecksum;
    if (ours && !sources.contains(assignment.path)) assign(OptionSet(options), assignment);
  }
  return true;
}

void require_directory(const PretrainOptions& options, const OptionSources& sources) {
  const fs::path folder = options.init_from;
  if (fs::is_regular_file(folder / "config.json")) return;
  std::string hint;
  const std::vector<std::int64_t> steps = checkpoint::checkpoint_steps(folder);
  if (!steps.empty())
    hint = fmt::format("; it holds checkpoints, such as {}",
                       (folder / checkpoint::checkpoint_name(steps.back())).string());
  throw ConfigError("init_from is {} ({}): no folder with a config.json{}", options.init_from,
                    place_of(sources, "init_from"), hint);
}

}  // namespace

bool has_checkpoint(const fs::path& run) { return !run.empty() && !checkpoint::checkpoint_steps(run).empty(); }

std::unique_ptr<PretrainedWeights> open_init(PretrainOptions& options, OptionSources& sources,
                                             const fs::path& resumed) {
  if (options.init_from.empty()) {
    if (options.init_checksum.empty()) return nullptr;
    throw ConfigError("{} is {} ({}), but init_from names no directory", kChecksum, options.init_checksum,
                      place_of(sources, kChecksum));
  }
  if (!fs::exists(options.init_from) && has_checkpoint(resumed) && take_recorded(options, sources, resumed)) {
    log::warning("init_from: {} is gone; {} goes on from its own checkpoint", options.init_from, resumed.string());
    return nullptr;
  }
  require_directory(options, sources);
  auto init = std::make_unique<PretrainedWeights>(options.init_from);
  const std::string checksum = init->checksum();
  if (!options.init_checksum.empty() && options.init_checksum != checksum)
    throw ConfigError("{} is {} ({}), but that of the weights in {} is {}", kChecksum, options.init_checksum,
                      place_of(sources, kChecksum), options.init_from, checksum);
  options.init_checksum = checksum;
  take_architecture(*init, options, sources);
  return init;
}

void check_init_vocabulary(const PretrainedWeights& init, const PretrainText& text, std::int64_t vocabulary) {
  if (vocabulary != text.vocabulary_size())
    throw ConfigError(
        "model.vocabulary is {}, the text's vocabulary has {} pieces and vocab_size of {} is {}: rows beyond the "
        "pieces are padding and not loaded; leave the option out",
        vocabulary, text.vocabulary_size(), init.config_file(), init.config().vocab_size);
  checkpoint::check_vocabulary_fits(init.config().vocab_size, vocabulary, init.config_file());
  if (text.tokenizer() == nullptr) return;
  const std::string folder = init.folder().string();
  if (!text::vocabulary_in(init.folder())) {
    log::warning("{}: no vocabulary; that its pieces are those of the text is taken on trust", folder);
    return;
  }
  text::TokenizerOptions options;
  options.vocabulary = folder;
  const std::unique_ptr<text::Tokenizer> theirs = text::load_tokenizer(options);
  const text::Tokenizer& ours = *text.tokenizer();
  if (theirs->hash() == ours.hash()) return;
  if (theirs->size() != ours.size())
    throw DataError("{}: its vocabulary has {} pieces, the text's {}: shard the text with this vocabulary", folder,
                    theirs->size(), ours.size());
  for (std::int32_t id = 0; id < ours.size(); ++id)
    if (theirs->piece(id) != ours.piece(id))
      throw DataError("{}: its piece {} is '{}', the text's '{}': shard the text with this vocabulary", folder, id,
                      theirs->piece(id), ours.piece(id));
  log::warning("{}: the text has the same pieces by other rules ({}) than the directory's ({})", folder,
               ours.description(), theirs->description());
}

}  // namespace eflops::programs
