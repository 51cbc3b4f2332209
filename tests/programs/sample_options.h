#pragma once

#include "base/options.h"

namespace eflops::programs {

enum class Mode { Fast, VerySlow };

}  // namespace eflops::programs

template <>
struct eflops::Choices<eflops::programs::Mode> {
  using enum programs::Mode;
  static constexpr std::pair<programs::Mode, std::string_view> kEntries[] = {{Fast, "fast"}, {VerySlow, "very-slow"}};
};

namespace eflops::programs {

struct SampleOptimizer {
  double learning_rate = 1e-4;
  std::int64_t warmup_steps = 100;
  std::int64_t layers = 1;
  void visit_fields(OptionVisitor& v) {
    v("learning_rate", learning_rate, "peak learning rate", {.min = 0, .max = 1, .aliases = {"lr"}});
    v("warmup_steps", warmup_steps, "steps of linear warm-up", {.unit = "steps", .min = 0});
    v("layers", layers, "layers it sees");
  }
};

struct SampleModel {
  std::int64_t layers = 2;
  bool tied = true;
  void visit_fields(OptionVisitor& v) {
    v("layers", layers, "number of layers", {.min = 1, .max = 96});
    v("tied", tied, "tie the decoder to the embedding");
  }
};

/// One field of every kind, with every way to name it.
struct SampleOptions {
  std::vector<std::string> input;
  std::int64_t count = 8;
  std::string text = "";
  std::string data = "synthetic";
  Mode mode = Mode::Fast;
  bool verbose = false;
  SampleOptimizer optimizer;
  SampleModel model;

  void visit_fields(OptionVisitor& v) {
    v("input", input, "files to read");
    v("count", count, "how many", {.unit = "items", .aliases = {"n", "number-of-items"}});
    v("text", text, "any text");
    v("data", data, "where data come from", {.changes_result = false});
    v("mode", mode, "how to work");
    v("verbose", verbose, "say more");
    v.group("optimizer", optimizer, "how weights move");
    v.group("model", model, "the network");
  }
};

}  // namespace eflops::programs
