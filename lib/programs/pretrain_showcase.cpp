#include "programs/pretrain_showcase.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "programs/pretrain_task.h"

namespace eflops::programs {
namespace {

constexpr std::int64_t kContext = 14;  // tokens shown on each side
constexpr std::int64_t kBatch = 16;

struct Example {
  std::string line;
  std::size_t weight = 0;  ///< longer answers are more fun to read
  bool right = false;
};

struct Found {
  std::vector<Example> blanks;
  std::vector<Example> spans;
};

/// One packed batch with the model's answers.
struct Answered {
  const data::PackedTextBatch& batch;
  const std::vector<std::int32_t>& answers;
};

class Collector {
 public:
  Collector(const text::Tokenizer& tokenizer, std::int64_t span) : tokenizer_(tokenizer), span_(span) {}

  void add(const Answered& answered, Found& found) const {
    const auto& rows = answered.batch.predicted_rows;
    for (std::size_t i = 0; i < rows.size();) {
      const bool shuffled = answered.batch.predicted_kinds[i] == data::PredictionKind::Shuffled;
      const auto width = static_cast<std::size_t>(shuffled ? span_ : 1);
      if (i + width > rows.size()) break;
      if (shuffled) {
        if (rows[i + width - 1] - rows[i] == span_ - 1) add_span(answered, i, found);
      } else if (answered.batch.predicted_kinds[i] == data::PredictionKind::Masked) {
        add_blank(answered, i, found);
      }
      i += width;
    }
  }

 private:
  // The words around [row, row + width) in its segment, with `middle` in their place and other blanks as ___.
  std::string around(const data::PackedTextBatch& batch, std::int32_t row, std::int64_t width,
                     const std::string& middle) const {
    const std::span<const std::int32_t> tokens = batch.tokens;
    const auto ends_text = [&](std::int64_t at) {
      const std::int32_t id = tokens[static_cast<std::size_t>(at)];
      return id == tokenizer_.specials().cls || id == tokenizer_.specials().sep;
    };
    std::int64_t begin = row;
    while (row - begin < kContext && !ends_text(begin - 1)) --begin;
    std::int64_t end = row + width;
    while (end - row - width < kContext && !ends_text(end)) ++end;
    const auto words = [&](std::int64_t from, std::int64_t to) {
      return text_with_blanks(tokens.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
    };
    return fmt::format("… {} {} {} …", words(begin, row), middle, words(row + width, end));
  }

  std::string text_with_blanks(std::span<const std::int32_t> tokens) const {
    std::vector<std::string> parts;
    while (!tokens.empty()) {
      const auto blank = std::ranges::find(tokens, tokenizer_.specials().mask);
      const auto known = static_cast<std::size_t>(blank - tokens.begin());
      if (known > 0) parts.push_back(tokenizer_.decode(tokens.first(known)));
      if (blank != tokens.end()) parts.emplace_back("___");
      tokens = tokens.subspan(std::min(known + 1, tokens.size()));
    }
    return fmt::format("{}", fmt::join(parts, " "));
  }

  void add_blank(const Answered& answered, std::size_t i, Found& found) const {
    const std::int32_t answer = answered.answers[i];
    const std::int32_t truth = answered.batch.predicted_labels[i];
    const auto piece = [this](std::int32_t id) { return std::string(tokenizer_.piece(id)); };
    Example example;
    example.right = answer == truth;
    example.weight = piece(truth).size();
    example.line = around(answered.batch, answered.batch.predicted_rows[i], 1, fmt::format("[{}]", piece(answer)));
    if (!example.right) example.line += fmt::format("   (it was: {})", piece(truth));
    found.blanks.push_back(std::move(example));
  }

  void add_span(const Answered& answered, std::size_t i, Found& found) const {
    const auto width = static_cast<std::size_t>(span_);
    const auto row = static_cast<std::size_t>(answered.batch.predicted_rows[i]);
    const std::span<const std::int32_t> shown = std::span(answered.batch.tokens).subspan(row, width);
    const std::span<const std::int32_t> truth = std::span(answered.batch.predicted_labels).subspan(i, width);
    const std::span<const std::int32_t> answer = std::span(answered.answers).subspan(i, width);
    if (std::ranges::equal(shown, truth)) return;  // it was not out of order
    Example example;
    example.right = std::ranges::equal(answer, truth);
    const std::string order = fmt::format("[{} → {}]", tokenizer_.decode(shown), tokenizer_.decode(answer));
    example.line = around(answered.batch, static_cast<std::int32_t>(row), span_, order);
    example.weight = tokenizer_.decode(truth).size();
    if (!example.right) example.line += fmt::format("   (it was: {})", tokenizer_.decode(truth));
    found.spans.push_back(std::move(example));
  }

  const text::Tokenizer& tokenizer_;
  std::int64_t span_;
};

std::string section(std::string_view title, std::vector<Example> examples, std::int64_t wanted) {
  std::ranges::stable_sort(examples, std::ranges::greater(), &Example::weight);
  const auto right = std::ranges::count_if(examples, &Example::right);
  std::string text = fmt::format("  {} ({} of {} right; some with long answers):\n", title, right, examples.size());
  for (const bool rightly : {true, false}) {
    const std::int64_t share = rightly ? wanted - wanted / 4 : wanted / 4;
    std::int64_t shown = 0;
    for (const Example& example : examples)
      if (example.right == rightly && shown++ < share)
        text += fmt::format("    {} {}\n", rightly ? "✓" : "✗", example.line);
  }
  return text;
}

}  // namespace

std::string showcase(models::StructBert& model, const data::PretrainSampler& held_out, const text::Tokenizer& tokenizer,
                     const ShowcaseOptions& options) {
  const data::EpochPlan plan = held_out.plan(0);
  const std::int64_t wanted = std::min(options.instances, plan.size());
  const Collector collector(tokenizer, options.span);
  Found found;
  for (std::int64_t begin = 0; begin < wanted; begin += kBatch) {
    const data::PackedTextBatch batch = held_out.make_batch(plan, {begin, std::min(wanted, begin + kBatch)});
    const models::StructBertLoss loss = model.forward(model_input(batch), nn::Mode::Evaluate);
    collector.add({batch, loss.predicted_argmax}, found);
  }
  std::string text = section("blanks it filled in", std::move(found.blanks), options.examples);
  if (!found.spans.empty()) text += section("words it put back into order", std::move(found.spans), options.examples);
  return text;
}

}  // namespace eflops::programs
