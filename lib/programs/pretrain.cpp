#include "programs/pretrain.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/build_info.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/stats.h"
#include "checkpoint/manifest.h"
#include "experiment/provenance.h"
#include "machine/machine.h"
#include "ops/engine.h"
#include "programs/pretrain_setup.h"
#include "programs/pretrain_showcase.h"
#include "programs/pretrain_task.h"
#include "train/loop.h"

namespace eflops::programs {
namespace {

train::RunIdentity identity_of(const Invocation& call, const PretrainText& text, const machine::Machine& machine) {
  train::RunIdentity identity;
  identity.config_hash = config_hash(call.options);
  identity.tokenizer_hash = hex64(text.train().corpus().tokenizer_hash());
  identity.cpu = machine.cpu;
  identity.onednn = ops::onednn_version();
  identity.git_commit = build_info().git_commit;
  identity.threads = thread_count();
  return identity;
}

void refuse_other_configuration(const experiment::RunFolder& folder, const Invocation& call) {
  if (!folder.resumed()) return;
  const std::vector<std::string> differences = folder.differences(call.program, call.options);
  if (differences.empty()) return;
  throw ConfigError("{}: cannot go on with other options than it began with: {}", folder.path().string(),
                    fmt::join(differences, "; "));
}

// Median speed without the first steps, which make caches and primitives.
double steady_tokens_per_second(const train::TrainingResult& result) {
  const std::span<const double> all = result.step_seconds;
  const std::size_t warm_up = std::min<std::size_t>(5, all.size() / 2);
  const double tokens_per_step = static_cast<double>(result.tokens_here) / static_cast<double>(all.size());
  return tokens_per_step / stats::median(all.subspan(warm_up));
}

/// What the records of a run share, however it ends.
struct RunContext {
  const PretrainSetup& setup;
  const Invocation& call;
  const machine::Machine& machine;
  std::filesystem::path folder;

  records::Record start_record() const {
    records::Record record = experiment::start_record({.program = call.program,
                                                       .experiment = folder.filename().string(),
                                                       .config_hash = config_hash(call.options),
                                                       .command = call.command,
                                                       .seed = setup.options.seed},
                                                      machine);
    if (!setup.options.init_from.empty())
      record.facts = {{"init_from", setup.options.init_from}, {"init_checksum", setup.options.init_checksum}};
    record.facts.insert(record.facts.end(), setup.init_facts.begin(), setup.init_facts.end());
    return record;
  }
  void append(const records::Record& record) const { records::append(folder / "records.jsonl", record); }
};

// The loop stops at a loss or gradient that is not finite, or counts it; run_pretrain has made the other two checks.
std::string verification_method(std::int64_t skipped_steps) {
  return fmt::format("finite losses{}, data cover, checkpoint checksums",
                     skipped_steps == 0 ? "" : fmt::format(" but for {} skipped steps", skipped_steps));
}

void append_record(const train::TrainingResult& result, double peak_flops, const RunContext& run) {
  records::Record record = run.start_record();
  record.status = result.interrupted ? records::Status::Interrupted : records::Status::Complete;
  record.verification = {verification_method(result.skipped_steps), records::Outcome::Passed};
  if (!result.step_seconds.empty()) record.measurements.push_back({"step_time", "s", result.step_seconds});
  const auto fact = [&](std::string name, const auto& value) { record.facts.emplace_back(std::move(name), value); };
  fact("steps", result.step);
  fact("tokens", result.tokens);
  fact("seconds", result.seconds);
  fact("skipped_steps", result.skipped_steps);
  fact("loss", result.last.loss);
  if (!result.step_seconds.empty()) fact("tokens_per_second", steady_tokens_per_second(result));
  if (peak_flops > 0 && !result.step_seconds.empty()) {
    fact("peak_flops", peak_flops);
    fact("mfu", result.flops_here / result.clock.training() / peak_flops);
  }
  for (std::size_t stage = 0; stage < train::kStageNames.size(); ++stage)
    fact(fmt::format("seconds_{}", train::kStageNames[stage]), result.clock.seconds(static_cast<train::Stage>(stage)));
  if (result.evaluation)
    for (const train::NamedValue& metric : result.evaluation->metrics) fact("held_out_" + metric.name, metric.value);
  run.append(record);
}

/// A run that ended with an error leaves a record that says so; where even that cannot be written (a full disk), the
/// error itself is what matters.
void append_failure(const Error& error, const RunContext& run) {
  try {
    records::Record record = run.start_record();
    const bool late = error.exit_code() == ExitCode::Timeout;
    const bool wrong = error.exit_code() == ExitCode::CheckFailed;
    record.status = late ? records::Status::Timeout : records::Status::Failed;
    record.verification = {verification_method(0), wrong ? records::Outcome::Failed : records::Outcome::None};
    record.facts.emplace_back("error", std::string(error.what()));
    run.append(record);
  } catch (const Error& second) {
    log::warning("no record of the failure: {}", second.what());
  }
}

void print_outcome(const train::TrainingResult& result, double peak_flops) {
  const double training = result.clock.training();
  if (!result.step_seconds.empty()) {
    fmt::print("{} tokens in {} steps, loss {:.3f}; {} tokens/s", format_si(static_cast<double>(result.tokens)),
               result.step, result.last.loss, format_si(static_cast<double>(result.tokens_here) / training));
    if (peak_flops > 0) fmt::print(", MFU {:.0f} %", 100 * result.flops_here / training / peak_flops);
    fmt::print("\ntime:");
    for (std::size_t stage = 0; stage < train::kStageNames.size(); ++stage)
      fmt::print(" {} {:.0f} %", train::kStageNames[stage],
                 100 * result.clock.seconds(static_cast<train::Stage>(stage)) / result.clock.total());
    fmt::print("\n");
  }
  fmt::print("checkpoint: {}\n", result.checkpoint.string());
}

}  // namespace

void run_pretrain(PretrainOptions& options, const Invocation& call) {
  const machine::Machine machine = machine::inspect();
  if (options.threads > 0) set_thread_count(static_cast<int>(options.threads));
  flush_denormals();
  const std::filesystem::path resumed = experiment::run_to_resume(options.run, call.program);
  PretrainSetup setup = prepare_pretrain(options, call.sources, resumed);
  options = setup.options;
  const experiment::RunFolder folder(options.run, call.program);
  refuse_other_configuration(folder, call);
  folder.write_config(call.program, call.options, [&setup](const std::string& path) {
    const auto found = setup.sources.find(path);
    return found == setup.sources.end() ? "default" : found->second;
  });
  log::info("run folder {}", folder.path().string());
  log::info("{}", train::describe_schedule(setup.training.schedule));

  models::StructBert model(setup.model, static_cast<std::uint64_t>(options.seed));
  log::info("{} parameters, {} on {} threads, matrix products: {}",
            format_si(static_cast<double>(model.parameters().parameter_count())), choice_name(setup.model.precision),
            thread_count(), model.implementation());
  if (!has_checkpoint(folder.path())) setup.init_facts = load_init(setup, model.parameters());
  setup.init.reset();
  PretrainTask task(model, *setup.text, setup.task);
  train::TrainingContext context;
  context.folder = folder.path();
  context.identity = identity_of(call, *setup.text, machine);
  context.ours_alone = ours_alone;
  context.write_model_files = [&](const std::filesystem::path& target) { write_model_files(target, setup); };
  context.peak_flops = options.measure_peak ? measured_peak(setup.model.precision) : 0;
  const RunContext run{setup, call, machine, folder.path()};
  const train::TrainingResult result = [&] {
    try {
      train::TrainingResult made = train::train(task, setup.training, context);
      task.check_data_cover();
      checkpoint::verify_checkpoint(made.checkpoint);
      return made;
    } catch (const Error& error) {
      append_failure(error, run);
      throw;
    }
  }();
  append_record(result, context.peak_flops, run);
  print_outcome(result, context.peak_flops);
  if (result.interrupted)
    throw InterruptedError("stopped by {} after step {}; go on with the same command and --resume {}", result.signal,
                           result.step, folder.path().string());
  if (setup.text->held_out() == nullptr) return;
  fmt::print("{}", score_table(task.held_out_scores()));
  if (options.evaluation.examples > 0)
    fmt::print("{}", showcase(model, *setup.text->held_out(), *setup.text->tokenizer(),
                              {.examples = options.evaluation.examples, .span = setup.objective.shuffle_span}));
}

void estimate_pretrain(PretrainOptions& options, const Invocation& call) {
  const std::filesystem::path resumed = experiment::run_to_resume(options.run, call.program);
  const PretrainSetup setup = prepare_pretrain(options, call.sources, resumed);
  options = setup.options;
  const data::EpochPlan plan = setup.text->train().plan(0);
  const data::Corpus& corpus = setup.text->train().corpus();
  fmt::print("text: {} documents, {} tokens, {} instances an epoch\n",
             format_si(static_cast<double>(corpus.document_count())),
             format_si(static_cast<double>(corpus.token_count())), format_si(static_cast<double>(plan.size())));
  const auto samples = static_cast<double>(setup.training.loop.steps * options.batch.size);
  fmt::print("run: {} steps of {} sequences, {:.2f} epochs\n", setup.training.loop.steps, options.batch.size,
             samples / static_cast<double>(plan.size()));
  fmt::print("{}", estimate_text(setup, samples));
  if (has_checkpoint(resumed))
    fmt::print("weights: of the newest checkpoint in {}\n", resumed.string());
  else if (setup.init)
    fmt::print("weights: {}: {}\n", options.init_from,
               setup.init->check(models::StructBert::parameters_of(setup.model)).summary());
}

}  // namespace eflops::programs
