#include <fmt/format.h>

#include "experiment/provenance.h"
#include "programs/bench_run.h"
#include "records/record.h"

namespace eflops::programs {

void write_record(const BenchRun& run, const PlannedRow& planned, const bench::TableRow& row) {
  records::Record record =
      experiment::start_record({.program = run.call.program,
                                .experiment = fmt::format("{} {} {}", planned.algorithm, row.bytes,
                                                          row.place == bench::Place::Out ? "out" : "in"),
                                .config_hash = config_hash(run.call.options),
                                .command = run.call.command,
                                .seed = run.options.seed},
                               run.machine);
  record.provenance.ranks = run.head.ranks;
  if (!row.result.seconds.empty()) {
    record.measurements.push_back({.name = "iteration_time", .unit = "s", .samples = row.result.seconds});
  }
  const auto fact = [&record](std::string name, auto value) { record.facts.emplace_back(std::move(name), value); };
  fact("collective", std::string(coll::collective_name(run.head.collective)));
  fact("size_bytes", row.bytes);
  fact("count", row.count);
  fact("place", std::string(row.place == bench::Place::Out ? "out" : "in"));
  fact("algorithm", row.algorithm);
  fact("transport", std::string(run.transport.name()));
  fact("registered", run.options.registered);
  fact("element", run.head.element);
  fact("reduction", run.head.reduction);
  fact("map", std::string(choice_name(run.options.map)));
  fact("cadence", std::string(choice_name(run.options.cadence)));
  fact("cache", std::string(choice_name(run.options.cache)));
  fact("launch", run.launch);
  fact("segment_bytes", planned.request.execution.segment_bytes);
  fact("wrong", row.result.wrong);
  fact("precise", row.result.is_precise);
  if (row.port_bytes) fact("port_bytes", *row.port_bytes);
  if (run.head.line.bytes_per_second > 0) fact("line_GBps", run.head.line.bytes_per_second * 1e-9);
  if (!row.note.empty()) fact("note", row.note);
  record.verification.method = "every element exact after every iteration";
  if (row.result.seconds.empty()) {
    record.status = records::Status::Unverified;
  } else if (row.result.wrong > 0) {
    record.status = records::Status::Failed;
    record.verification.outcome = records::Outcome::Failed;
  } else if (row.is_checked) {
    record.status = records::Status::Complete;
    record.verification.outcome = records::Outcome::Passed;
  }
  records::append(run.options.record, record);
}

}  // namespace eflops::programs
