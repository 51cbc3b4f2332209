#include "programs/pretrain_setup.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "checkpoint/hf_config.h"
#include "models/structbert_cost.h"
#include "ops/engine.h"
#include "ops/gemm_peak.h"
#include "tensor/dtype.h"

namespace eflops::programs {
namespace {

constexpr const char* kNamedSizes[] = {"model.layers", "model.hidden", "model.heads", "model.intermediate"};
constexpr const char* kSentenceLabels = "sentence_labels";  // of config.json's "eflops"

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); }

models::StructBertOptions model_options(const PretrainOptions& options, const OptionSources& sources,
                                        const PretrainText& text, std::int64_t sentence_classes) {
  models::StructBertOptions model = options.model;
  if (options.model_size != models::StructBertSize::Custom) {
    for (const char* key : kNamedSizes)
      if (const auto given = sources.find(key); given != sources.end())
        throw ConfigError("{} was given ({}) beside model_size {}: use model_size custom to set sizes one by one", key,
                          given->second, choice_name(options.model_size));
    model.set_size(options.model_size);
  }
  if (const auto given = sources.find("model.vocabulary");
      given != sources.end() && model.vocabulary < text.vocabulary_size())
    throw ConfigError("model.vocabulary is {} ({}), the text's vocabulary has {} pieces", model.vocabulary,
                      given->second, text.vocabulary_size());
  else if (given == sources.end())
    model.vocabulary = text.vocabulary_size();
  if (sentence_classes > 0) model.sentence_classes = sentence_classes;
  model.validate();
  return model;
}

// Sizes one by one, so that the options give the same model again whatever the text or a name would say then.
void keep_resolved_model(const models::StructBertOptions& model, PretrainOptions& options, OptionSources& sources) {
  if (options.model_size != models::StructBertSize::Custom) {
    const std::string name = fmt::format("model_size {}", choice_name(options.model_size));
    for (const char* key : kNamedSizes) sources[key] = name;
    sources["model_size"] = "resolved";
  }
  if (!sources.contains("model.vocabulary")) sources["model.vocabulary"] = "the text";
  options.model = model;
  options.model_size = models::StructBertSize::Custom;
}

checkpoint::BertConfig bert_config(const PretrainSetup& setup) {
  const models::StructBertOptions& model = setup.model;
  checkpoint::BertConfig config;
  config.vocab_size = model.vocabulary;
  config.hidden_size = model.hidden;
  config.num_hidden_layers = model.layers;
  config.num_attention_heads = model.heads;
  config.intermediate_size = model.intermediate;
  config.max_position_embeddings = model.positions;
  config.type_vocab_size = model.segments;
  config.hidden_act = model.gelu == models::Gelu::Erf ? checkpoint::Activation::Gelu : checkpoint::Activation::GeluNew;
  config.hidden_dropout_prob = model.dropout;
  config.attention_probs_dropout_prob = model.attention_dropout;
  config.initializer_range = model.initializer_range;
  config.layer_norm_eps = model.layer_norm_epsilon;
  if (setup.text->tokenizer() != nullptr) config.pad_token_id = setup.text->tokenizer()->specials().pad;
  config.eflops[kSentenceLabels] = joined(data::sentence_label_names(setup.objective));
  config.eflops["arm"] = std::string(choice_name(setup.objective.arm));
  config.eflops["tokenizer_hash"] = hex64(setup.text->train().corpus().tokenizer_hash());
  return config;
}

}  // namespace

PretrainSetup prepare_pretrain(PretrainOptions options, OptionSources sources, const std::filesystem::path& resumed) {
  PretrainSetup setup;
  setup.init = open_init(options, sources, resumed);
  check(options);
  setup.objective = data::resolved(options.objective);
  const PretrainSeeds seeds{.train = static_cast<std::uint64_t>(options.seed)};
  setup.text = std::make_unique<PretrainText>(options.data, options.objective, seeds);
  const std::vector<std::string> labels = data::sentence_label_names(setup.objective);
  setup.model = model_options(options, sources, *setup.text, std::ssize(labels));
  if (setup.init) {
    check_init_vocabulary(*setup.init, *setup.text, setup.model.vocabulary);
    // A head of as many classes in another order is not this run's head.
    const auto& notes = setup.init->config().eflops;
    const auto stored = notes.find(kSentenceLabels);
    if (stored != notes.end() && !labels.empty() && stored->second != joined(labels))
      setup.init->leave_out("cls.seq_relationship.");
  }
  setup.training = {options.train, options.schedule, options.optimizer, options.checkpoint, options.batch.shards};
  if (setup.training.schedule.total_steps == 0) setup.training.schedule.total_steps = options.train.steps;
  setup.training.schedule.check();
  setup.task = {.batch_size = options.batch.size,
                .evaluation_instances = options.evaluation.instances,
                .evaluation_batch = options.evaluation.batch,
                .prefetch = options.data.prefetch,
                .seed = seeds.train};
  keep_resolved_model(setup.model, options, sources);
  setup.options = std::move(options);
  setup.sources = std::move(sources);
  return setup;
}

std::vector<records::Fact> load_init(const PretrainSetup& setup, nn::ParameterStore& parameters) {
  if (!setup.init) return {};
  const checkpoint::NameMatch match = setup.init->load(parameters);
  log::info("init_from {}: {}", setup.options.init_from, match.summary());
  return {{"init_tensors", std::ssize(match.used)},
          {"init_made_anew", joined(match.missing)},
          {"init_ignored", joined(match.ignored)}};
}

bool ours_alone(const nn::Parameter& parameter) {
  return parameter.name.starts_with("cls.seq_relationship.") && parameter.shape[0] != 2;
}

void write_model_files(const std::filesystem::path& folder, const PretrainSetup& setup) {
  checkpoint::write_bert_config(folder, bert_config(setup));
  if (setup.text->tokenizer() == nullptr) return;
  for (const text::NamedFile& file : text::tokenizer_files(*setup.text->tokenizer()))
    write_file_atomically(folder / file.name, file.bytes);
}

double measured_peak(models::Precision precision) {
  constexpr double kSeconds = 0.4;
  if (precision == models::Precision::BF16 && ops::bf16_support() == ops::Bf16Support::Emulated) return 0;
  const tensor::DType dtype = precision == models::Precision::BF16 ? tensor::DType::BF16 : tensor::DType::F32;
  return ops::measure_gemm_peak({.dtype = dtype, .threads = thread_count(), .seconds = kSeconds}).flops_per_second;
}

std::string estimate_text(const PretrainSetup& setup, double samples) {
  const std::int64_t sequences = std::max<std::int64_t>(setup.task.batch_size / setup.training.shards, 1);
  const std::int64_t length = setup.objective.max_seq_length;
  // Masked tokens and three positions for each shuffled span, about 30 % of all.
  const models::BatchShape shape{.sequences = sequences,
                                 .tokens = sequences * length,
                                 .token_pairs = sequences * length * length,
                                 .predictions = sequences * length * 3 / 10};
  const models::MemoryEstimate memory = models::estimate_memory(setup.model, shape);
  // Weights, two moments, and log2(S) + 1 gradient buffers.
  const std::int64_t buffers = 4 + std::countr_zero(static_cast<std::uint64_t>(setup.training.shards));
  const std::int64_t bytes = buffers * memory.parameters + memory.weight_copies + memory.activations + memory.scratch;
  const double flops = models::training_flops(setup.model, shape) / static_cast<double>(sequences) * samples;
  return fmt::format("model: {} parameters; memory about {}; at most {}FLOP in all\n",
                     format_si(static_cast<double>(models::parameter_count(setup.model))),
                     format_bytes(static_cast<std::uint64_t>(bytes)), format_si(flops));
}

}  // namespace eflops::programs
