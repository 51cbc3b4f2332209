#include "programs/pretrain_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/stats.h"

namespace eflops::programs {
namespace {

std::string percent_with_interval(const Tally& tally) {
  if (tally.all == 0) return "-";
  const stats::Interval interval = stats::binomial_interval(tally.right, tally.all);
  return fmt::format("{:5.1f} % [{:.1f}, {:.1f}]", 100 * tally.share(), 100 * interval.low, 100 * interval.high);
}

std::string verdict(const Tally& ours, const Tally& baseline) {
  const stats::Interval mine = stats::binomial_interval(ours.right, ours.all);
  const stats::Interval theirs = stats::binomial_interval(baseline.right, baseline.all);
  if (mine.low > theirs.high) return "above";
  return mine.high < theirs.low ? "below" : "not told apart";
}

std::string row(std::string_view what, const Tally& ours, const Tally& baseline, std::string_view baseline_name) {
  if (ours.all == 0) return "";
  return fmt::format("  {:<16} {:>22}  {:>22}  {:<26} {:>7}  {}\n", what, percent_with_interval(ours),
                     percent_with_interval(baseline), baseline_name, ours.all, verdict(ours, baseline));
}

}  // namespace

double Tally::share() const {
  return all > 0 ? static_cast<double>(right) / static_cast<double>(all) : std::numeric_limits<double>::quiet_NaN();
}

UnigramBaseline::UnigramBaseline(const data::Corpus& corpus) {
  counts_.assign(static_cast<std::size_t>(corpus.vocabulary_size()), 0);
  std::vector<std::int32_t> sentence;
  for (std::int64_t d = 0; d < corpus.document_count(); ++d)
    for (std::int64_t s = 0; s < corpus.sentence_count(d); ++s) {
      sentence.clear();
      corpus.append_sentence(d, s, sentence);
      for (const std::int32_t id : sentence) ++counts_[static_cast<std::size_t>(id)];
    }
  best_ = static_cast<std::int32_t>(std::max_element(counts_.begin(), counts_.end()) - counts_.begin());
  total_ = static_cast<double>(corpus.token_count()) + static_cast<double>(counts_.size());
}

double UnigramBaseline::loss(std::int32_t token) const {
  return -std::log((static_cast<double>(counts_[static_cast<std::size_t>(token)]) + 1) / total_);
}

void PretrainScores::add(const data::PackedTextBatch& batch, const PretrainAnswers& answers,
                         const UnigramBaseline* unigram) {
  EFLOPS_CHECK(answers.tokens.size() == batch.predicted_labels.size(), "answers of another batch");
  for (std::size_t i = 0; i < answers.tokens.size(); ++i) {
    const std::int32_t label = batch.predicted_labels[i];
    const double loss = answers.token_losses[i];
    if (batch.predicted_kinds[i] == data::PredictionKind::Shuffled) {
      shuffled.add(answers.tokens[i] == label);
      shuffled_loss += loss;
      shuffled_baseline.add(batch.tokens[static_cast<std::size_t>(batch.predicted_rows[i])] == label);
      continue;
    }
    masked.add(answers.tokens[i] == label);
    masked_loss += loss;
    if (unigram == nullptr) continue;
    masked_baseline.add(unigram->best() == label);
    masked_baseline_loss += unigram->loss(label);
  }
  for (std::size_t b = 0; b < answers.sentence_labels.size(); ++b) {
    const auto label = static_cast<std::size_t>(batch.sentence_labels[b]);
    sentence.add(answers.sentence_labels[b] == batch.sentence_labels[b]);
    if (sentence_classes.size() <= label) sentence_classes.resize(label + 1);
    ++sentence_classes[label];
  }
}

double PretrainScores::masked_perplexity() const { return std::exp(masked_loss / static_cast<double>(masked.all)); }

double PretrainScores::unigram_perplexity() const {
  return std::exp(masked_baseline_loss / static_cast<double>(masked_baseline.all));
}

Tally PretrainScores::sentence_baseline() const {
  if (sentence_classes.empty()) return {};
  return {*std::max_element(sentence_classes.begin(), sentence_classes.end()), sentence.all};
}

std::vector<train::NamedValue> PretrainScores::metrics() const {
  std::vector<train::NamedValue> values{{"masked_accuracy", masked.share()},
                                        {"masked_perplexity", masked_perplexity()},
                                        {"masked_tokens", static_cast<double>(masked.all)}};
  if (shuffled.all > 0) {
    values.push_back({"shuffled_accuracy", shuffled.share()});
    values.push_back({"shuffled_tokens", static_cast<double>(shuffled.all)});
  }
  if (sentence.all > 0) {
    values.push_back({"sentence_accuracy", sentence.share()});
    values.push_back({"sentences", static_cast<double>(sentence.all)});
  }
  return values;
}

std::string score_table(const PretrainScores& scores) {
  std::string table = fmt::format("  {:<16} {:>22}  {:>22}  {:<26} {:>7}  {}\n", "held-out", "learnt [95 %]",
                                  "baseline [95 %]", "baseline is", "count", "learnt is");
  table += row("masked tokens", scores.masked, scores.masked_baseline, "the most frequent token");
  table += row("shuffled tokens", scores.shuffled, scores.shuffled_baseline, "leave the order as it is");
  table += row("sentence order", scores.sentence, scores.sentence_baseline(), "the most frequent class");
  table += fmt::format("  perplexity of masked tokens: {:.1f}", scores.masked_perplexity());
  if (scores.masked_baseline.all > 0)
    table += fmt::format(" (token frequencies alone: {:.1f})", scores.unigram_perplexity());
  return table + "\n";
}

}  // namespace eflops::programs
