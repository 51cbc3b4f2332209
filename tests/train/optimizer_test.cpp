#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"

namespace eflops::train {
namespace {

// What the three reference programs do (their sources name the numbers).
const OptimizerOptions kGoogleBert{.epsilon = 1e-6, .weight_decay = 0.01, .bias_correction = false};
const OptimizerOptions kHuggingFace{.epsilon = 1e-8, .weight_decay = 0.0};
const OptimizerOptions kAliceMind{
    .epsilon = 1e-6, .weight_decay = 0.01, .decay_exclusion = false, .clip = ClipScope::PerTensor};
const OptimizerOptions kMlperfLamb{
    .kind = OptimizerKind::Lamb, .beta1 = 0.88, .beta2 = 0.88, .epsilon = 1e-6, .weight_decay = 0.0166629};

/// One weight of value 2 that decays, and one bias of value 2 that does not.
class OneStep : public ::testing::Test {
 protected:
  OneStep() {
    parameters_.add({.name = "weight", .shape = {1}});
    parameters_.add({.name = "bias", .shape = {1}, .decays = false});
    parameters_.initialise(1, 0.02);
  }

  struct Values {
    double weight;
    double bias;
  };

  /// Both values after one step at rate 0.1 with these gradients.
  Values after(const OptimizerOptions& options, float weight_gradient, float bias_gradient) {
    const auto at_weight = static_cast<std::size_t>(parameters_.find("weight")->offset);
    const auto at_bias = static_cast<std::size_t>(parameters_.find("bias")->offset);
    parameters_.values()[at_weight] = parameters_.values()[at_bias] = 2.0F;
    std::vector<float> gradients(static_cast<std::size_t>(parameters_.size()));
    gradients[at_weight] = weight_gradient;
    gradients[at_bias] = bias_gradient;
    Optimizer optimizer(options, parameters_);
    optimizer.measure(gradients);
    optimizer.update(gradients, 0.1);
    return {parameters_.values()[at_weight], parameters_.values()[at_bias]};
  }

  nn::ParameterStore parameters_;
};

// m = 0.1 x 0.5 = 0.05, v = 0.001 x 0.25 = 0.00025, not corrected; m / (sqrt v + 1e-6) = 0.05 / 0.0158123883
// = 3.1620777; decay 0.01 x 2 = 0.02 for the weight. Float betas make v 1.3e-5 smaller, the step 6.4e-6 larger:
// tolerance 4e-6.
TEST_F(OneStep, AsGoogleBert) {
  const Values values = after(kGoogleBert, 0.5F, 0.5F);
  EXPECT_NEAR(values.weight, 2 - 0.1 * 3.1820777, 4e-6);
  EXPECT_NEAR(values.bias, 2 - 0.1 * 3.1620777, 4e-6);
}

// Corrected moments of the first step are g and g^2, so the step is 0.1 x sign(g), whatever g; no decay.
TEST_F(OneStep, AsHuggingFace) {
  const Values values = after(kHuggingFace, 0.5F, -0.03F);
  EXPECT_NEAR(values.weight, 1.9, 3e-7);
  EXPECT_NEAR(values.bias, 2.1, 3e-7);
}

// Biases decay too: 0.5 / (0.5 + 1e-6) + 0.01 x 2 = 1.019998 for both.
TEST_F(OneStep, AsAliceMind) {
  const Values values = after(kAliceMind, 0.5F, 0.5F);
  EXPECT_NEAR(values.weight, 2 - 0.1019998, 3e-7);
  EXPECT_NEAR(values.bias, 2 - 0.1019998, 3e-7);
}

// A tensor of one element moves by rate |w| whatever its gradient: u |w| / |u| = 2, so 2 - 0.2. The bias, without ratio
// and decay, moves by the rate: 0.3 / (0.3 + 1e-6) x 0.1.
TEST_F(OneStep, AsMlperfLamb) {
  const Values values = after(kMlperfLamb, 0.5F, 0.3F);
  EXPECT_NEAR(values.weight, 1.8, 3e-7);
  EXPECT_NEAR(values.bias, 1.9, 5e-7);
}

// eps = 1 makes the step depend on the size of g: corrected m / (|g| + 1). Gradients 3 and 4 have norm 5: clipped
// globally to 0.6 and 0.8, by tensor to 1 and 1, not clipped 3 and 4.
TEST_F(OneStep, ClipsGloballyByTensorOrNotAtAll) {
  OptimizerOptions options{.epsilon = 1.0, .weight_decay = 0.0};
  const Values global = after(options, 3.0F, 4.0F);
  EXPECT_NEAR(global.weight, 2 - 0.1 * 0.6 / 1.6, 3e-7);
  EXPECT_NEAR(global.bias, 2 - 0.1 * 0.8 / 1.8, 3e-7);
  options.clip = ClipScope::PerTensor;
  const Values by_tensor = after(options, 3.0F, 4.0F);
  EXPECT_NEAR(by_tensor.weight, 2 - 0.1 * 0.5, 3e-7);
  EXPECT_NEAR(by_tensor.bias, 2 - 0.1 * 0.5, 3e-7);
  for (const bool by_norm : {true, false}) {
    options.clip = by_norm ? ClipScope::Global : ClipScope::Off;
    options.max_grad_norm = by_norm ? 0.0 : 1.0;
    const Values plain = after(options, 3.0F, 4.0F);
    EXPECT_NEAR(plain.weight, 2 - 0.1 * 0.75, 3e-7);
    EXPECT_NEAR(plain.bias, 2 - 0.1 * 0.8, 3e-7);
  }
}

TEST_F(OneStep, RefusesGradientsThatWereNotMeasuredOrAreNotFinite) {
  std::vector<float> gradients(static_cast<std::size_t>(parameters_.size()), 1.0F);
  Optimizer optimizer(kGoogleBert, parameters_);
  EXPECT_THROW(optimizer.update(gradients, 0.1), InternalError);
  optimizer.measure(gradients);
  EXPECT_NO_THROW(optimizer.update(gradients, 0.1));
  EXPECT_THROW(optimizer.update(gradients, 0.1), InternalError);
  gradients[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(optimizer.measure(gradients).nonfinite, "weight");
  EXPECT_THROW(optimizer.update(gradients, 0.1), InternalError);
  EXPECT_EQ(optimizer.updates(), 1);
}

/// The same update in double, written from the papers' formulas, element by element.
class Reference {
 public:
  Reference(const OptimizerOptions& options, const nn::ParameterStore& parameters)
      : options_(options),
        parameters_(parameters),
        beta1_(static_cast<double>(static_cast<float>(options.beta1))),
        beta2_(static_cast<double>(static_cast<float>(options.beta2))),
        w(parameters.values().begin(), parameters.values().end()),
        m_(w.size()),
        v_(w.size()) {}

  void step(const std::vector<float>& gradients, double rate) {
    ++t_;
    const double global = norm(std::vector<double>(gradients.begin(), gradients.end()), 0, gradients.size());
    for (const nn::Parameter& parameter : parameters_.parameters()) {
      const auto begin = static_cast<std::size_t>(parameter.offset);
      const auto end = begin + static_cast<std::size_t>(parameter.elements());
      const double own = norm(std::vector<double>(gradients.begin(), gradients.end()), begin, end);
      const double clipped = options_.clip == ClipScope::PerTensor ? own : global;
      const double scale = options_.clip == ClipScope::Off ? 1 : std::min(1.0, options_.max_grad_norm / clipped);
      const bool decays = parameter.decays || !options_.decay_exclusion;
      std::vector<double> u(w.size());
      for (std::size_t i = begin; i < end; ++i) u[i] = direction(i, scale * static_cast<double>(gradients[i]), decays);
      const bool lamb = options_.kind == OptimizerKind::Lamb && decays;
      const double ratio = lamb ? norm(w, begin, end) / norm(u, begin, end) : 1.0;
      for (std::size_t i = begin; i < end; ++i) w[i] -= rate * ratio * u[i];
    }
  }

  const std::vector<double>& values() const { return w; }

 private:
  static double norm(const std::vector<double>& x, std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += x[i] * x[i];
    return std::sqrt(sum);
  }

  double direction(std::size_t i, double g, bool decays) {
    m_[i] = beta1_ * m_[i] + (1 - beta1_) * g;
    v_[i] = beta2_ * v_[i] + (1 - beta2_) * g * g;
    const double c1 = options_.bias_correction ? 1 - std::pow(beta1_, t_) : 1;
    const double c2 = options_.bias_correction ? 1 - std::pow(beta2_, t_) : 1;
    return m_[i] / c1 / (std::sqrt(v_[i] / c2) + options_.epsilon) + (decays ? options_.weight_decay * w[i] : 0);
  }

  OptimizerOptions options_;
  const nn::ParameterStore& parameters_;
  double beta1_;
  double beta2_;
  std::vector<double> w;
  std::vector<double> m_;
  std::vector<double> v_;
  int t_ = 0;
};

/// Tensors of awkward sizes, one of several norm blocks.
void make_parameters(nn::ParameterStore& store) {
  store.add({.name = "embedding", .shape = {101, 90}});
  store.add({.name = "bias", .shape = {17}, .init = nn::Init::Zeros, .decays = false});
  store.add({.name = "norm", .shape = {3}, .init = nn::Init::Ones, .decays = false});
  store.add({.name = "dense", .shape = {7, 5}});
  store.initialise(3, 0.5);
}

std::vector<float> random_gradients(const nn::ParameterStore& store, int step) {
  std::vector<float> gradients(static_cast<std::size_t>(store.size()));
  for (const nn::Parameter& parameter : store.parameters()) {
    Random random(5, Purpose::Test, static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(parameter.offset));
    for (std::int64_t i = 0; i < parameter.elements(); ++i)
      gradients[static_cast<std::size_t>(parameter.offset + i)] = static_cast<float>(random.normal());
  }
  return gradients;
}

void run_steps(Optimizer& optimizer, const nn::ParameterStore& store, int first, int last) {
  for (int step = first; step < last; ++step) {
    std::vector<float> gradients = random_gradients(store, step);
    optimizer.measure(gradients);
    optimizer.update(gradients, 0.01 * (step + 1));
  }
}

class FiveSteps : public ::testing::TestWithParam<OptimizerOptions> {};

// Float rounding of values up to 2 is 1.2e-7 a step, and a step is at most 0.05 x some units: 2e-6 bounds five of them.
TEST_P(FiveSteps, FollowTheDoubleReference) {
  nn::ParameterStore store;
  make_parameters(store);
  Reference reference(GetParam(), store);
  Optimizer optimizer(GetParam(), store);
  for (int step = 0; step < 5; ++step) {
    reference.step(random_gradients(store, step), 0.01 * (step + 1));
    run_steps(optimizer, store, step, step + 1);
  }
  for (std::size_t i = 0; i < store.values().size(); ++i)
    ASSERT_NEAR(static_cast<double>(store.values()[i]), reference.values()[i], 2e-6) << i;
}

TEST_P(FiveSteps, ResumeFromTheStateBitForBit) {
  nn::ParameterStore whole;
  make_parameters(whole);
  Optimizer uninterrupted(GetParam(), whole);
  run_steps(uninterrupted, whole, 0, 5);

  nn::ParameterStore part;
  make_parameters(part);
  Optimizer before(GetParam(), part);
  run_steps(before, part, 0, 3);
  Optimizer after(GetParam(), part);
  std::ranges::copy(before.moments().m, after.moments().m.begin());
  std::ranges::copy(before.moments().v, after.moments().v.begin());
  after.set_updates(before.updates());
  run_steps(after, part, 3, 5);
  EXPECT_TRUE(std::ranges::equal(part.values(), whole.values()));
  EXPECT_EQ(after.updates(), 5);
}

TEST_P(FiveSteps, DoNotDependOnThreads) {
  std::vector<std::vector<float>> results;
  const int threads = thread_count();
  for (const int count : {1, 2, 3}) {
    set_thread_count(count);
    nn::ParameterStore store;
    make_parameters(store);
    Optimizer optimizer(GetParam(), store);
    run_steps(optimizer, store, 0, 5);
    results.emplace_back(store.values().begin(), store.values().end());
  }
  set_thread_count(threads);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

INSTANTIATE_TEST_SUITE_P(Optimizer, FiveSteps, ::testing::Values(kGoogleBert, kHuggingFace, kAliceMind, kMlperfLamb));

// Gaps between parameters hold zeros and must stay so: they are part of the flat buffers that are summed and normed.
TEST(Optimizer, LeavesTheGapsAtZero) {
  for (const OptimizerOptions& options : {kGoogleBert, kMlperfLamb}) {
    nn::ParameterStore store;
    make_parameters(store);
    Optimizer optimizer(options, store);
    run_steps(optimizer, store, 0, 5);
    std::vector<float> values(store.values().begin(), store.values().end());
    for (const nn::Parameter& parameter : store.parameters())
      std::fill_n(values.begin() + parameter.offset, parameter.elements(), 0.0F);
    EXPECT_EQ(values, std::vector<float>(values.size(), 0.0F));
  }
}

TEST(Optimizer, OptionsAreWalked) {
  OptimizerOptions options;
  assign(OptionSet(options), {.path = "kind", .values = {"lamb"}, .is_list = false, .source = "flag"});
  assign(OptionSet(options), {.path = "clip", .values = {"per_tensor"}, .is_list = false, .source = "flag"});
  EXPECT_EQ(options.kind, OptimizerKind::Lamb);
  EXPECT_EQ(options.clip, ClipScope::PerTensor);
  EXPECT_THROW(assign(OptionSet(options), {.path = "beta2", .values = {"1"}, .is_list = false, .source = "flag"}),
               ConfigError);
}

}  // namespace
}  // namespace eflops::train
