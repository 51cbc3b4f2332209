#include "train/loop.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/stop_signal.h"

namespace eflops::train {
namespace {

class Run {
 public:
  Run(Trainable& task, const TrainingOptions& options, const TrainingContext& context)
      : task_(task),
        options_(options),
        context_(context),
        store_(context.folder),
        optimizer_(options.optimizer, task.parameters()),
        tree_(task.parameters().size(), options.shards) {
    for (const std::string& name : store_.recovered())
      log::warning("{}: an unfinished checkpoint was cleared away", name);
    resume();
    metrics_.emplace(context.folder / "metrics.jsonl", state_.step);
    if (options.loop.tensorboard) metrics_->mirror_to(EventFile(context.folder / "tensorboard", state_.step));
  }

  TrainingResult run() {
    const StopSignal stop;
    Progress progress("training", "steps", static_cast<std::uint64_t>(options_.loop.steps));
    progress.update(static_cast<std::uint64_t>(state_.step));
    clock_ = {};
    while (state_.step < options_.loop.steps && !StopSignal::requested()) {
      one_step();
      progress.update(static_cast<std::uint64_t>(state_.step), progress_text());
      if (due(options_.loop.evaluate_every)) evaluate();
      if (due(options_.loop.save_every)) save();
    }
    result_.interrupted = state_.step < options_.loop.steps;
    result_.signal = StopSignal::name();
    if (!result_.interrupted && evaluated_at_ != state_.step) evaluate();
    if (saved_at_ != state_.step) save();
    progress.finish(progress_text());
    return finish();
  }

 private:
  bool due(std::int64_t every) const {
    return every > 0 && state_.step % every == 0 && state_.step < options_.loop.steps;
  }

  void resume() {
    const checkpoint::LatestCheckpoint latest = checkpoint::latest_valid(context_.folder);
    for (const std::string& reason : latest.skipped) log::warning("not resumed from: {}", reason);
    if (!latest.folder) {
      if (!latest.skipped.empty())
        throw DataError("{}: no checkpoint is whole; the reasons stand above", context_.folder.string());
      state_.identity = context_.identity;
      return;
    }
    state_ = read_training_state(*latest.folder, task_.parameters(), optimizer_.moments());
    optimizer_.set_updates(state_.optimizer_step);
    if (state_.identity.config_hash != context_.identity.config_hash)
      throw ConfigError(
          "{}: was made with another configuration (hash {}, now {}); give the one in its run's config.yaml",
          latest.folder->string(), state_.identity.config_hash, context_.identity.config_hash);
    for (const std::string& difference : state_.identity.differences(context_.identity))
      log::warning("resumed under other circumstances, bits may differ: {}", difference);
    state_.identity = context_.identity;
    task_.restore_data_position(state_.data_position);
    result_.checkpoint = *latest.folder;
    saved_at_ = state_.step;
    log::info("resumed at step {} from {}", state_.step, latest.folder->string());
  }

  void one_step() {
    const double began = clock_.total();
    nn::ParameterStore& parameters = task_.parameters();
    task_.begin_step(options_.shards);
    clock_.lap(Stage::Data);
    tree_.reset();
    for (std::int64_t shard = 0; shard < options_.shards; ++shard) {
      parameters.bind_gradients(tree_.leaf());
      task_.run_shard(shard);
      clock_.lap(Stage::ForwardBackward);
      tree_.add_leaf();
      clock_.lap(Stage::Reduce);
    }
    parameters.bind_gradients(nullptr);
    result_.last = task_.end_step();
    ++state_.step;
    state_.tokens += result_.last.tokens;
    state_.samples += result_.last.samples;
    result_.tokens_here += result_.last.tokens;
    result_.flops_here += result_.last.flops;
    update(parameters);
    clock_.lap(Stage::Optimizer);
    result_.step_seconds.push_back(clock_.total() - began);
    if (state_.step % options_.loop.log_every == 0 || state_.step == options_.loop.steps) log_step();
  }

  void update(nn::ParameterStore& parameters) {
    rate_ = learning_rate(options_.schedule, state_.step - 1);
    std::string culprit;
    if (!std::isfinite(result_.last.loss)) {
      culprit = fmt::format("the loss is {}", result_.last.loss);
    } else {
      const GradientReport gradient = optimizer_.measure(tree_.sum());
      norm_ = gradient.norm;
      if (!gradient.nonfinite.empty()) culprit = fmt::format("the gradient of {} is not finite", gradient.nonfinite);
    }
    if (!culprit.empty()) {
      if (options_.loop.on_nan == OnNan::Stop)
        throw CheckFailed("step {}: {}; the weights of step {} are untouched", state_.step, culprit, state_.step - 1);
      log::warning("step {}: {}; this update is skipped", state_.step, culprit);
      ++result_.skipped_steps;
      return;
    }
    optimizer_.update(tree_.sum(), rate_);
    parameters.refresh();
    ++state_.optimizer_step;
  }

  void log_step() {
    std::vector<NamedValue> values{{"loss", result_.last.loss}};
    values.insert(values.end(), result_.last.metrics.begin(), result_.last.metrics.end());
    values.push_back({"learning_rate", rate_});
    values.push_back({"gradient_norm", norm_});
    values.push_back({"tokens", static_cast<double>(state_.tokens)});
    metrics_->append(state_.step, "train", values);
  }

  void evaluate() {
    clock_.lap(Stage::Optimizer);
    result_.evaluation = task_.evaluate();
    evaluated_at_ = state_.step;
    if (!result_.evaluation->metrics.empty()) metrics_->append(state_.step, "evaluation", result_.evaluation->metrics);
    clock_.lap(Stage::Evaluate);
  }

  void save() {
    clock_.lap(Stage::Optimizer);
    state_.data_position = task_.data_position();
    TrainerState stored = state_;
    stored.seconds += clock_.total();
    checkpoint::SaveRequest request{state_.step, std::nullopt};
    if (result_.evaluation && evaluated_at_ == state_.step && !result_.evaluation->metrics.empty())
      request.metric = result_.evaluation->score;
    result_.checkpoint = store_.save(request, [&](const std::filesystem::path& folder) {
      context_.write_model_files(folder);
      write_training_state(folder, task_.parameters(), optimizer_.moments(), stored, context_.ours_alone);
    });
    store_.prune(options_.keep, checkpoint::Better::Lower);
    saved_at_ = state_.step;
    clock_.lap(Stage::Save);
  }

  std::string progress_text() const {
    const double training = std::max(clock_.training(), 1e-9);
    std::string text = fmt::format("loss {:.3f}, {} tokens/s", result_.last.loss,
                                   format_si(static_cast<double>(result_.tokens_here) / training));
    if (context_.peak_flops > 0)
      text += fmt::format(", MFU {:.0f} %", 100 * result_.flops_here / training / context_.peak_flops);
    return text;
  }

  TrainingResult finish() {
    result_.step = state_.step;
    result_.tokens = state_.tokens;
    result_.seconds = state_.seconds + clock_.total();
    result_.clock = clock_;
    return std::move(result_);
  }

  Trainable& task_;
  const TrainingOptions& options_;
  const TrainingContext& context_;
  checkpoint::CheckpointStore store_;
  Optimizer optimizer_;
  GradientTree tree_;
  std::optional<MetricsFile> metrics_;
  TrainerState state_;
  TrainingResult result_;
  StageClock clock_;
  std::int64_t evaluated_at_ = -1;
  std::int64_t saved_at_ = -1;
  double rate_ = 0;
  double norm_ = 0;
};

}  // namespace

TrainingResult train(Trainable& task, const TrainingOptions& options, const TrainingContext& context) {
  Run run(task, options, context);
  return run.run();
}

}  // namespace eflops::train
