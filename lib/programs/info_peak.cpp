#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/stats.h"
#include "experiment/provenance.h"
#include "machine/bandwidth.h"
#include "machine/binding.h"
#include "machine/machine.h"
#include "ops/gemm_peak.h"
#include "programs/info.h"
#include "records/record.h"

namespace eflops::programs {
namespace {

struct Row {
  std::string quantity;  ///< "gemm_f32", "memory_bandwidth"
  machine::Scope scope;
  std::string unit;
  std::vector<double> samples;
  std::string note;
};

struct Peaks {
  std::vector<Row> rows;
  std::vector<std::pair<std::string, std::string>> missing;  ///< quantity, reason
};

Row gemm_row(const std::string& quantity, const machine::Scope& scope, tensor::DType dtype, double seconds) {
  const machine::PoolBinding bound(scope.cores);
  const ops::GemmPeak peak =
      ops::measure_gemm_peak({.dtype = dtype, .threads = static_cast<int>(scope.cores.size()), .seconds = seconds});
  Row row{.quantity = quantity, .scope = scope, .unit = "GFLOP/s", .samples = {}, .note = ""};
  row.note = fmt::format("{} x {} x {}, {}", peak.m, peak.n, peak.k, peak.implementation);
  const double operations =
      2.0 * static_cast<double>(peak.m) * static_cast<double>(peak.n) * static_cast<double>(peak.k);
  for (const double sample : peak.sample_seconds) row.samples.push_back(operations / sample * 1e-9);
  return row;
}

void measure_gemm(const PeakOptions& options, const std::vector<machine::Scope>& scopes, Peaks& peaks) {
  for (const auto& [quantity, dtype] :
       {std::pair{"gemm_f32", tensor::DType::F32}, std::pair{"gemm_bf16", tensor::DType::BF16}}) {
    try {
      for (const machine::Scope& scope : scopes)
        peaks.rows.push_back(gemm_row(quantity, scope, dtype, options.seconds));
    } catch (const ConfigError& error) {
      // Asked for by name, a missing precision is an error; asked for what there is, it is said below the table.
      if (options.measure != PeakTarget::Available) throw;
      peaks.missing.emplace_back(quantity, error.what());
    }
  }
}

Peaks measure(const PeakOptions& options, const machine::Machine& machine) {
  Peaks peaks;
  if (options.measure != PeakTarget::Bandwidth)
    measure_gemm(options, machine::measuring_scopes(machine.topology), peaks);
  if (options.measure == PeakTarget::Gemm) return peaks;
  for (machine::BandwidthResult& result :
       machine::measure_bandwidth(machine, {.repeats = options.repeats, .megabytes = options.megabytes}))
    peaks.rows.push_back({.quantity = "memory_bandwidth",
                          .scope = std::move(result.scope),
                          .unit = "GB/s",
                          .samples = std::move(result.samples),
                          .note = "triad, 3 x " + format_bytes(result.array_bytes)});
  return peaks;
}

void print_table(const Peaks& peaks) {
  fmt::print("{:<18}{:<18}{:>8}{:>12}{:>12}{:>12}{:>8}  {:<9}{}\n", "quantity", "scope", "threads", "median", "lowest",
             "highest", "samples", "unit", "how");
  for (const Row& row : peaks.rows) {
    const auto [lowest, highest] = std::ranges::minmax(row.samples);
    fmt::print("{:<18}{:<18}{:>8}{:>12.4g}{:>12.4g}{:>12.4g}{:>8}  {:<9}{}\n", row.quantity,
               fmt::format("{}", fmt::join(row.scope.names, "+")), row.scope.cores.size(), stats::median(row.samples),
               lowest, highest, row.samples.size(), row.unit, row.note);
  }
  for (const auto& [quantity, reason] : peaks.missing) fmt::print("{:<18}not measured: {}\n", quantity, reason);
}

/// measure_gemm_peak and measure_bandwidth throw CheckFailed where a result is wrong.
std::string verification_method(const Peaks& peaks) {
  const auto measured = [&](std::string_view what) {
    return std::ranges::any_of(peaks.rows, [&](const Row& row) { return row.quantity.starts_with(what); });
  };
  const std::string triad = measured("memory") ? "triad elements exact" : "";
  const std::string product = measured("gemm") ? "every element of each product exact" : "";
  return triad + (triad.empty() || product.empty() ? "" : ", ") + product;
}

void write_record(const PeakOptions& options, const Invocation& call, const machine::Machine& machine,
                  const Peaks& peaks) {
  records::Record record = experiment::start_record({.program = call.program,
                                                     .experiment = "peak",
                                                     .config_hash = config_hash(call.options),
                                                     .command = call.command},
                                                    machine);
  for (const Row& row : peaks.rows)
    for (const std::string& scope : row.scope.names) {
      const std::string name = row.quantity + "." + scope;
      record.measurements.push_back({.name = name, .unit = row.unit, .samples = row.samples});
      record.facts.emplace_back(name + ".threads", static_cast<std::int64_t>(row.scope.cores.size()));
      record.facts.emplace_back(name + ".how", row.note);
    }
  for (const auto& [quantity, reason] : peaks.missing) record.facts.emplace_back(quantity + ".missing", reason);
  record.status = records::Status::Complete;
  record.verification = {.method = verification_method(peaks), .outcome = records::Outcome::Passed};
  records::append(options.record, record);
  log::info("record appended to {}", options.record);
}

}  // namespace

void run_info_peak(const PeakOptions& options, const Invocation& call) {
  const std::filesystem::path folder = std::filesystem::path(options.record).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throw DataError("{}: the folder of the record does not exist", folder.string());
  const machine::Machine machine = machine::inspect();
  if (machine.load > 0.3)
    log::warning("load is {:.2f}: other processes disturb the measurement (less than 0.3 is wanted)", machine.load);
  const Peaks peaks = measure(options, machine);
  print_table(peaks);
  if (!options.record.empty()) write_record(options, call, machine, peaks);
}

void estimate_info_peak(const PeakOptions& options) {
  const machine::Machine machine = machine::inspect();
  const auto scopes = static_cast<double>(machine::measuring_scopes(machine.topology).size());
  const double precisions = options.measure == PeakTarget::Bandwidth ? 0 : machine.has_native_bf16() ? 2 : 1;
  const double gemm = scopes * precisions * options.seconds;
  fmt::print("{:.0f} scopes; GEMM about {}, bandwidth {} passes in each\n", scopes,
             format_duration(std::chrono::duration<double>(gemm)),
             options.measure == PeakTarget::Gemm ? 0 : options.repeats);
}

}  // namespace eflops::programs
