#include "bench/foreign_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <regex>

#include "base/error.h"
#include "bench/foreign_columns.h"
#include "kernels/reduce.h"

namespace eflops::bench {
namespace {

using Kind = ForeignColumn::Kind;

/// The whole word as a number; digits may be grouped with '_'.
std::optional<double> number_in(std::string word) {
  std::erase(word, '_');
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string collective_of(const std::string& benchmark) {
  std::string word;
  for (const char c : benchmark) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) word += static_cast<char>(std::tolower(c));
  }
  const std::pair<std::string_view, std::string_view> names[] = {
      {"allreduce", "allreduce"}, {"reducescatter", "reduce-scatter"}, {"allgather", "all-gather"},
      {"alltoall", "alltoall"},   {"broadcast", "broadcast"},          {"bcast", "broadcast"}};
  for (const auto& [theirs, ours] : names) {
    if (word.find(theirs) != std::string::npos) return std::string(ours);
  }
  return "";
}

std::string our_element(const std::string& theirs) {
  const std::optional<kernels::Element> found = kernels::find_element(theirs);
  return found ? std::string(kernels::element_name(*found)) : theirs;
}

class Parser {
 public:
  void take(const std::string& raw, std::int64_t number) {
    static const std::regex prefix(R"(^\s*(\[[0-9]+,[0-9]+\](<std(out|err)>)?:|[0-9]+:\s))");
    const std::string line = std::regex_replace(raw, prefix, "", std::regex_constants::format_first_only);
    if (auto found = foreign_columns(line)) {
      table_ = std::move(found);
    } else if (!learn(line) && table_) {
      take_row(words_of(line), number);
    }
  }

  ForeignLog log;

 private:
  /// Takes what a line says about all rows that follow; false if it says nothing.
  bool learn(const std::string& line) {
    static const std::regex osu(R"(^# OSU (.*) Test v([0-9.]+))");
    static const std::regex imb_version(R"(Intel\(R\) MPI Benchmarks (.*?),)");
    static const std::regex imb(R"(^# Benchmarking (\S+))");
    static const std::regex imb_ranks(R"(^# #processes = ([0-9]+))");
    static const std::regex nccl(R"(\b([a-z_]+_perf)\b)");
    static const std::regex nccl_version(R"(^# nccl-tests version (\S+))");
    static const std::regex nccl_rank(R"(^#?\s*Rank\s+([0-9]+)\s)");
    std::smatch found;
    if (std::regex_search(line, found, osu)) {
      benchmark_ = found[1];
      version_ = found[2];
      ranks_ = 0;
      table_.reset();
    } else if (std::regex_search(line, found, imb_version)) {
      version_ = found[1];
    } else if (std::regex_search(line, found, imb)) {
      benchmark_ = found[1];
      table_.reset();
    } else if (std::regex_search(line, found, imb_ranks)) {
      ranks_ = std::stoll(found[1]);
    } else if (std::regex_search(line, found, nccl_version)) {
      version_ = found[1];
    } else if (std::regex_search(line, found, nccl)) {
      benchmark_ = found[1];
      ranks_ = 0;
      table_.reset();
    } else if (std::regex_search(line, found, nccl_rank)) {
      ranks_ = std::max<std::int64_t>(ranks_, std::stoll(found[1]) + 1);
    } else {
      return false;
    }
    return true;
  }

  void take_row(const std::vector<std::string>& words, std::int64_t number) {
    if (words.empty()) return;
    const std::optional<double> bytes = number_in(words[0]);
    if (!bytes || *bytes < 0 || *bytes != std::floor(*bytes)) return;
    if (words.size() != table_->columns.size()) {
      log.odd_lines.push_back(number);
      return;
    }
    std::vector<ForeignRow> rows;
    for (const std::string place : {"", "out", "in"}) {
      const auto has_values = [&](const ForeignColumn& column) {
        return column.kind == Kind::Value && column.place == place;
      };
      if (std::ranges::none_of(table_->columns, has_values)) continue;
      ForeignRow row{.line = number,
                     .tool = table_->tool,
                     .version = version_,
                     .benchmark = benchmark_,
                     .collective = collective_of(benchmark_),
                     .ranks = ranks_,
                     .bytes = static_cast<std::int64_t>(*bytes),
                     .place = place,
                     .element = {},
                     .reduction = {},
                     .repetitions = 0,
                     .values = {},
                     .wrong = {},
                     .note = {}};
      for (std::size_t i = 0; i < words.size(); ++i) {
        const ForeignColumn& column = table_->columns[i];
        if (column.place.empty() || column.place == place) put(row, column, words[i]);
      }
      if (row.values.empty()) continue;
      row.note = contradiction(row);
      rows.push_back(std::move(row));
    }
    if (rows.empty()) log.odd_lines.push_back(number);
    std::ranges::move(rows, std::back_inserter(log.rows));
  }

  static void put(ForeignRow& row, const ForeignColumn& column, const std::string& word) {
    const std::optional<double> value = number_in(word);
    switch (column.kind) {
      case Kind::Value:
        if (value) row.values.push_back({column.name, column.unit, *value * column.scale});
        break;
      case Kind::Wrong:
        if (value) row.wrong = static_cast<std::int64_t>(std::ceil(*value));
        break;
      case Kind::Validation:
        row.wrong = word == "Pass" ? 0 : 1;
        break;
      case Kind::Repetitions:
        if (value) row.repetitions = static_cast<std::int64_t>(*value);
        break;
      case Kind::Element:
        row.element = our_element(word);
        break;
      case Kind::Reduction:
        row.reduction = word;
        break;
      case Kind::Bytes:
      case Kind::Other:
        break;
    }
  }

  /// nccl-tests' algbw is size over time, with two decimals.
  static std::string contradiction(const ForeignRow& row) {
    const auto value = [&](std::string_view name) {
      const auto found = std::ranges::find(row.values, name, &ForeignValue::name);
      return found == row.values.end() ? 0.0 : found->value;
    };
    const double seconds = value("iteration_time");
    const double algbw = value("algbw");
    if (seconds <= 0 || algbw <= 0) return "";
    const double expected = static_cast<double>(row.bytes) / seconds * 1e-9;
    if (std::abs(expected - algbw) <= 0.006 + 0.005 * expected) return "";
    return fmt::format("algbw is {:g}, but size over time {:.2f} GB/s", algbw, expected);
  }

  std::optional<ForeignColumns> table_;
  std::string version_;
  std::string benchmark_;
  std::int64_t ranks_ = 0;
};

}  // namespace

ForeignLog read_foreign_log(std::istream& log, const std::string& name) {
  Parser parser;
  std::int64_t number = 0;
  for (std::string line; std::getline(log, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    parser.take(line, ++number);
  }
  if (parser.log.rows.empty()) {
    throw DataError("{}: no row of a table of nccl-tests, OSU or IMB in {} lines", name, number);
  }
  return std::move(parser.log);
}

ForeignLog read_foreign_log(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) throw DataError("{}: cannot be read", file.string());
  return read_foreign_log(stream, file.string());
}

}  // namespace eflops::bench
