#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "bench/measure.h"
#include "bench/sizes.h"
#include "kernels/reduce.h"

namespace eflops::programs {

/// How bytes travel between the ranks.
enum class TransportChoice { Auto, Shm, Tcp, Mpi };
enum class PlaceChoice { Out, In, Both };
enum class MapChoice { InOrder, RoundRobin, Random, Hdrm, File };
enum class TableFormat { People, Nccl, Csv };
/// In which order the sizes of a table are measured.
enum class OrderChoice { Sizes, Random };

/// The options of `eflops-bench allreduce` and the other collectives. Flags of nccl-tests mean what they mean there.
struct BenchOptions {
  std::string begin = "8";
  std::string end = "128M";
  double factor = 2;
  std::string step = "0";
  std::vector<std::string> algorithm = {"auto"};
  std::string table = "";
  std::string element = "f32";
  std::string reduction = "sum";
  PlaceChoice place = PlaceChoice::Both;
  std::int64_t root = 0;

  std::int64_t ranks = 0;
  std::int64_t launches = 1;
  TransportChoice transport = TransportChoice::Auto;
  bool registered = true;
  std::string bind = "";
  std::int64_t streams = 1;
  std::string segment = "256K";
  MapChoice map = MapChoice::InOrder;
  std::string map_file = "";
  std::int64_t servers = 1;
  std::string inner = "halving-doubling";

  bench::Cadence cadence = bench::Cadence::Isolated;
  bench::Cache cache = bench::Cache::Hot;
  std::int64_t warmup = 5;
  std::int64_t iterations = 0;
  std::int64_t most_iterations = 1000;
  double precision = 0.05;
  double row_seconds = 0.5;
  double timeout = 30;
  bool check = true;

  OrderChoice order = OrderChoice::Sizes;
  double line_gbps = 0;
  double min_busbw = 0;
  TableFormat format = TableFormat::People;
  std::string record = "";
  std::int64_t seed = 1;

  void visit_fields(OptionVisitor& v);
};

/// "f32", "float", "float32", "bfloat16", "half", "int8" ...; ConfigError with the names for anything else.
kernels::Element element_named(const std::string& name);
/// "sum", "prod", "min", "max", "avg".
kernels::Reduction reduction_named(const std::string& name);

}  // namespace eflops::programs

template <>
struct eflops::Choices<eflops::programs::TransportChoice> {
  using enum programs::TransportChoice;
  static constexpr std::pair<programs::TransportChoice, std::string_view> kEntries[] = {
      {Auto, "auto"}, {Shm, "shm"}, {Tcp, "tcp"}, {Mpi, "mpi"}};
};
template <>
struct eflops::Choices<eflops::programs::PlaceChoice> {
  using enum programs::PlaceChoice;
  static constexpr std::pair<programs::PlaceChoice, std::string_view> kEntries[] = {
      {Out, "out"}, {In, "in"}, {Both, "both"}};
};
template <>
struct eflops::Choices<eflops::programs::MapChoice> {
  using enum programs::MapChoice;
  static constexpr std::pair<programs::MapChoice, std::string_view> kEntries[] = {
      {InOrder, "in-order"}, {RoundRobin, "round-robin"}, {Random, "random"}, {Hdrm, "hdrm"}, {File, "file"}};
};
template <>
struct eflops::Choices<eflops::programs::TableFormat> {
  using enum programs::TableFormat;
  static constexpr std::pair<programs::TableFormat, std::string_view> kEntries[] = {
      {People, "people"}, {Nccl, "nccl"}, {Csv, "csv"}};
};
template <>
struct eflops::Choices<eflops::programs::OrderChoice> {
  using enum programs::OrderChoice;
  static constexpr std::pair<programs::OrderChoice, std::string_view> kEntries[] = {{Sizes, "sizes"},
                                                                                    {Random, "random"}};
};
template <>
struct eflops::Choices<eflops::bench::Cadence> {
  using enum bench::Cadence;
  static constexpr std::pair<bench::Cadence, std::string_view> kEntries[] = {{Isolated, "isolated"},
                                                                             {Streaming, "streaming"}};
};
template <>
struct eflops::Choices<eflops::bench::Cache> {
  using enum bench::Cache;
  static constexpr std::pair<bench::Cache, std::string_view> kEntries[] = {{Hot, "hot"}, {Cold, "cold"}};
};
