#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/options.h"
#include "programs/program.h"

namespace eflops::programs {

/// What `eflops-info peak` measures.
enum class PeakTarget {
  Available,  ///< everything this build and CPU can; what they cannot is named
  Gemm,       ///< matrix products in fp32 and bf16; an error where they cannot
  Bandwidth,  ///< memory
};

struct PeakOptions {
  PeakTarget measure = PeakTarget::Available;
  double seconds = 1.0;
  std::int64_t repeats = 10;
  std::int64_t megabytes = 0;
  std::string record = "";

  void visit_fields(OptionVisitor& v);
};

/// `eflops-info`: machine, limits, build, which precisions and transports work here, and what mends what is wrong.
void run_info_summary(const Invocation& call);

/// `eflops-info build`: versions of compiler and libraries, and flags.
void run_info_build(const Invocation& call);

/// `eflops-info provenance`: the `provenance` of a record made now (results/README.md), as one JSON object on stdout.
void run_info_provenance(const Invocation& call);

/// `eflops-info peak`: GEMM peak and memory bandwidth per core, per socket and in all, as median and range of every
/// sample; with `record`, appended to that file as one record with the raw samples.
void run_info_peak(const PeakOptions& options, const Invocation& call);

/// What run_info_peak would measure and how long it takes.
void estimate_info_peak(const PeakOptions& options);

}  // namespace eflops::programs

template <>
struct eflops::Choices<eflops::programs::PeakTarget> {
  using enum programs::PeakTarget;
  static constexpr std::pair<programs::PeakTarget, std::string_view> kEntries[] = {
      {Available, "available"}, {Gemm, "gemm"}, {Bandwidth, "bandwidth"}};
};
