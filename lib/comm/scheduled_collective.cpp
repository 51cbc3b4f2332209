#include <array>
#include <optional>

#include "base/error.h"
#include "comm/collective.h"

namespace eflops::comm {
namespace {

using coll::Collective;

class ScheduledCollective final : public PreparedCollective {
 public:
  ScheduledCollective(Transport& transport, const coll::Algorithm& algorithm, const coll::Problem& problem,
                      coll::RankSchedule list, const Execution& execution)
      : transport_(transport),
        name_(algorithm.name),
        problem_(problem),
        list_(std::move(list)),
        execution_(execution),
        rank_(transport.rank()) {}

  std::string algorithm() const override { return std::string(name_); }

  void run(std::span<const std::byte> in, std::span<std::byte> out, Deadline deadline) override {
    const std::size_t expected = bytes(problem_.elements);
    EFLOPS_CHECK(in.size() == expected && out.size() == expected, "buffers of {} and {} bytes for {}", in.size(),
                 out.size(), expected);
    const bool in_place = in.data() == out.data();
    const bool all_to_all = problem_.collective == Collective::AllToAll;
    if (all_to_all && in_place) input_.assign(in.begin(), in.end());
    Ready& ready = ready_for(in_place || all_to_all ? Origin::Data : Origin::Input);
    // A plan only reads its Input.
    std::byte* const input = all_to_all && in_place ? input_.data() : const_cast<std::byte*>(in.data());
    ready.executor.run({out.data(), input, ready.scratch.get(), ready.stage.get()}, deadline);
    if (execution_.reduction == kernels::Reduction::Average) {
      const coll::Range result = reduced();
      kernels::average_of(execution_.element, out.data() + bytes(result.begin), result.size(), problem_.ranks);
    }
  }

 private:
  /// A plan with what it needs, made at its first use.
  struct Ready {
    Executor executor;
    std::shared_ptr<std::byte> scratch;
    std::shared_ptr<std::byte> stage;
  };

  Ready& ready_for(Origin origin) {
    std::optional<Ready>& ready = ready_[origin == Origin::Data ? 0 : 1];
    if (!ready) {
      const std::int64_t segment = execution_.segment_bytes / kernels::bytes_of(execution_.element);
      Plan plan = plan_of(list_, rank_, segment, origin, result());
      const auto memory = [&](std::int64_t elements) {
        const std::int64_t size = elements * kernels::bytes_of(execution_.element);
        return size > 0 ? transport_.allocate(size) : nullptr;
      };
      auto scratch = memory(plan.scratch_elements);
      auto stage = memory(plan.stage_elements);
      ready.emplace(Ready{Executor(transport_, std::move(plan), execution_.element, execution_.reduction),
                          std::move(scratch), std::move(stage)});
    }
    return *ready;
  }

  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements * kernels::bytes_of(execution_.element));
  }

  coll::Range own_block() const { return coll::block_of(problem_.all(), problem_.ranks, rank_); }

  /// The part of `out` that the collective promises.
  coll::Range result() const { return problem_.collective == Collective::ReduceScatter ? own_block() : problem_.all(); }

  /// The part of `out` that is a sum.
  coll::Range reduced() const {
    switch (problem_.collective) {
      case Collective::Allreduce:
        return problem_.all();
      case Collective::ReduceScatter:
        return own_block();
      default:
        return {};
    }
  }

  Transport& transport_;
  std::string_view name_;
  coll::Problem problem_;  // its root is a process
  coll::RankSchedule list_;
  Execution execution_;
  int rank_;
  std::array<std::optional<Ready>, 2> ready_;  // for a contribution in Data and in Input
  std::vector<std::byte> input_;               // a copy, for an all-to-all in place
};

}  // namespace

std::unique_ptr<PreparedCollective> prepare_scheduled(Transport& transport, const coll::Algorithm& algorithm,
                                                      coll::Problem problem, const coll::RankMap& map,
                                                      const Execution& execution) {
  EFLOPS_CHECK(problem.ranks == transport.size(), "a problem of {} ranks on {}", problem.ranks, transport.size());
  coll::check_problem(algorithm, problem);
  coll::Problem scheduled = problem;
  scheduled.root = map.rank_at(problem.root);
  coll::RankSchedule list = coll::placed(scheduled, algorithm.build(scheduled, map.rank_at(transport.rank())), map);
  return std::make_unique<ScheduledCollective>(transport, algorithm, problem, std::move(list), execution);
}

}  // namespace eflops::comm
