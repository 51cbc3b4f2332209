#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/parameter_store.h"

namespace eflops::train {

struct NamedValue {
  std::string name;
  double value = 0;
};

/// What one optimiser step did, over all its micro-shards.
struct StepReport {
  double loss = 0;                  ///< as optimised: mean per prediction and per sentence, summed
  std::vector<NamedValue> metrics;  ///< parts of the loss, accuracies
  std::int64_t tokens = 0;          ///< real tokens, no padding
  std::int64_t samples = 0;
  double flops = 0;  ///< of forward and backward, by the model's own count
};

/// Held-out metrics. `score` decides keep-best: lower is better.
struct EvaluationReport {
  std::vector<NamedValue> metrics;
  double score = 0;
};

/// What the loop trains: a model together with its data and loss. One optimiser step is begin_step(), run_shard(i) for
/// every micro-shard i in order (each a forward and backward by itself that adds to the bound gradients, DESIGN D8),
/// and end_step().
class Trainable {
 public:
  virtual ~Trainable() = default;

  virtual nn::ParameterStore& parameters() = 0;
  /// Takes the next global batch, cuts it into `shards` micro-shards and fixes the loss denominators over all of them.
  virtual void begin_step(std::int64_t shards) = 0;
  virtual void run_shard(std::int64_t shard) = 0;
  virtual StepReport end_step() = 0;

  virtual EvaluationReport evaluate() = 0;

  /// Where the data stand after the last end_step(), as a JSON object: stored in checkpoints, so that a resumed run
  /// sees the same batches.
  virtual std::string data_position() const = 0;
  /// DataError when the position is not one of these data.
  virtual void restore_data_position(const std::string& position) = 0;
};

}  // namespace eflops::train
