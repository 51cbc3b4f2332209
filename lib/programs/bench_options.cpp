#include "programs/bench_options.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace eflops::programs {

using kernels::Element;
using kernels::Reduction;

kernels::Element element_named(const std::string& name) {
  if (const std::optional<Element> found = kernels::find_element(name)) return *found;
  std::string known;
  for (const Element element : kernels::kElements) known += fmt::format(" {}", kernels::element_name(element));
  throw ConfigError("element: '{}' is no element type; there are{} (and float, half, int8 ...)", name, known);
}

kernels::Reduction reduction_named(const std::string& name) {
  std::string known;
  for (const Reduction reduction : kernels::kReductions) {
    if (kernels::reduction_name(reduction) == name) return reduction;
    known += fmt::format(" {}", kernels::reduction_name(reduction));
  }
  throw ConfigError("reduction: '{}' is no reduction; there are{}", name, known);
}

void BenchOptions::visit_fields(OptionVisitor& v) {
  v("begin", begin, "smallest size, with K, M, G or T (times 1024)", {.unit = "bytes", .aliases = {"b", "minbytes"}});
  v("end", end, "largest size", {.unit = "bytes", .aliases = {"e", "maxbytes"}});
  v("factor", factor, "each size is the one before times this", {.min = 1, .max = 1e6, .aliases = {"f", "stepfactor"}});
  v("step", step, "each size is the one before plus this; 0: by factor",
    {.unit = "bytes", .aliases = {"i", "stepbytes"}});
  v("algorithm", algorithm, "one or several, or `auto`, or `all`; `mpi` is MPI_Allreduce itself", {.aliases = {"a"}});
  v("table", table, "file that `auto` follows, as `eflops-bench tune` writes it; empty: a built-in rule");
  v("element", element, "type of the elements: f32 f64 bf16 f16 i8 u8 i32 u32 i64 u64",
    {.aliases = {"d", "dtype", "datatype"}});
  v("reduction", reduction, "sum, prod, min, max or avg", {.aliases = {"o", "op"}});
  v("place", place, "result in a buffer of its own, over the input, or both in turn");
  v("root", root, "rank that a broadcast comes from", {.min = 0, .aliases = {"r"}});
  v("ranks", ranks, "how many to start on this host where no launcher did; 0: one a core",
    {.min = 0, .max = 1024, .aliases = {"np", "nproc"}});
  v("launches", launches,
    "how often to start them, one after the other, so that `compare` can decide; each prints a table",
    {.min = 1, .max = 1000});
  v("transport", transport, "auto: shared memory on one host, tcp between hosts");
  v("registered", registered, "data in the transport's own memory, as a training system would keep them");
  v("bind", bind, "tcp: address or interface of the network to use");
  v("streams", streams, "tcp: connections between each two ranks", {.min = 1, .max = 64});
  v("segment", segment, "transfers are cut into parts of this size, which advance by themselves; 0: whole",
    {.unit = "bytes"});
  v("map", map, "which process runs which rank of the algorithm");
  v("map_file", map_file, "map file: one process a line, in the order of ranks");
  v("servers", servers, "servers that the ranks are on, for round-robin, hdrm (as switches) and hierarchical",
    {.min = 1});
  v("inner", inner, "algorithm between servers in hierarchical");
  v("cadence", cadence, "a barrier before each iteration, or one before a batch of them");
  v("cache", cache, "cold: other memory is read before each iteration");
  v("warmup", warmup, "iterations before the clock counts", {.min = 0, .aliases = {"w", "warmup_iters"}});
  v("iterations", iterations, "exactly so many; 0: until the median is known to `precision`",
    {.min = 0, .max = 1e9, .aliases = {"n", "iters"}});
  v("most_iterations", most_iterations, "at most so many where `iterations` is 0", {.min = 1, .max = 1e9});
  v("precision", precision, "width of the 95 % interval of the median over the median", {.min = 0, .max = 10});
  v("row_seconds", row_seconds, "no iteration of a row begins later", {.unit = "s", .min = 0});
  v("timeout", timeout, "an iteration that takes longer ends the run and names who waits for whom",
    {.unit = "s", .min = 0.001, .aliases = {"T"}});
  v("check", check, "compare every element after every iteration, outside the clock", {.aliases = {"c"}});
  v("order", order, "random: sizes in an order drawn from `seed`, so that no drift looks like a trend");
  v("line_gbps", line_gbps, "rate of each server's port, for `line %` and where the interface does not tell; 0: ask it",
    {.unit = "Gb/s", .min = 0});
  v("min_busbw", min_busbw, "the mean bus bandwidth over rows must reach this, else the program fails",
    {.unit = "GB/s", .min = 0, .changes_result = false});
  v("format", format, "nccl: columns and closing lines of nccl-tests; csv: comma-separated values",
    {.changes_result = false});
  v("record", record, "file to append a record a row to", {.aliases = {"J", "output"}, .changes_result = false});
  v("seed", seed, "of the random rank map and order");
}

}  // namespace eflops::programs
