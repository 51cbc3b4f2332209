#include <cstring>

#include "base/error.h"
#include "comm/collective.h"

namespace eflops::comm {
namespace {

using coll::Collective;

class ScheduledCollective final : public PreparedCollective {
 public:
  ScheduledCollective(Transport& transport, const coll::Algorithm& algorithm, const coll::Problem& problem, Plan plan,
                      const Execution& execution)
      : name_(algorithm.name),
        problem_(problem),
        execution_(execution),
        rank_(transport.rank()),
        executor_(transport, std::move(plan), execution.element, execution.reduction) {
    const std::int64_t element_bytes = kernels::bytes_of(execution.element);
    scratch_ = transport.allocate(executor_.plan().scratch_elements * element_bytes);
    stage_ = transport.allocate(executor_.plan().stage_elements * element_bytes);
    if (problem.collective == Collective::AllToAll) input_.resize(bytes(problem.elements));
  }

  std::string algorithm() const override { return std::string(name_); }

  void run(std::span<const std::byte> in, std::span<std::byte> out, Deadline deadline) override {
    const std::size_t expected = bytes(problem_.elements);
    EFLOPS_CHECK(in.size() == expected && out.size() == expected, "buffers of {} and {} bytes for {}", in.size(),
                 out.size(), expected);
    Memories memories{out.data(), nullptr, scratch_.get(), stage_.get()};
    const bool in_place = in.data() == out.data();
    if (problem_.collective == Collective::AllToAll) {
      if (in_place && expected > 0) std::memcpy(input_.data(), in.data(), expected);
      // A plan only reads its Input.
      memories[1] = in_place ? input_.data() : const_cast<std::byte*>(in.data());
    } else if (!in_place) {
      const coll::Range own = contribution();
      if (!own.empty()) std::memcpy(out.data() + bytes(own.begin), in.data() + bytes(own.begin), bytes(own.size()));
    }
    executor_.run(memories, deadline);
    if (execution_.reduction == kernels::Reduction::Average) {
      const coll::Range result = reduced();
      kernels::average_of(execution_.element, out.data() + bytes(result.begin), result.size(), problem_.ranks);
    }
  }

 private:
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements * kernels::bytes_of(execution_.element));
  }

  coll::Range own_block() const { return coll::block_of(problem_.all(), problem_.ranks, rank_); }

  /// The part of `in` that counts.
  coll::Range contribution() const {
    switch (problem_.collective) {
      case Collective::AllGather:
        return own_block();
      case Collective::Broadcast:
        return rank_ == problem_.root ? problem_.all() : coll::Range{};
      default:
        return problem_.all();
    }
  }

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

  std::string_view name_;
  coll::Problem problem_;  // its root is a process
  Execution execution_;
  int rank_;
  Executor executor_;
  std::shared_ptr<std::byte> scratch_;
  std::shared_ptr<std::byte> stage_;
  std::vector<std::byte> input_;  // a copy, for an all-to-all in place
};

}  // namespace

std::unique_ptr<PreparedCollective> prepare_scheduled(Transport& transport, const coll::Algorithm& algorithm,
                                                      coll::Problem problem, const coll::RankMap& map,
                                                      const Execution& execution) {
  EFLOPS_CHECK(problem.ranks == transport.size(), "a problem of {} ranks on {}", problem.ranks, transport.size());
  coll::check_problem(algorithm, problem);
  coll::Problem scheduled = problem;
  scheduled.root = map.rank_at(problem.root);
  const coll::RankSchedule list =
      coll::placed(scheduled, algorithm.build(scheduled, map.rank_at(transport.rank())), map);
  const std::int64_t segment = execution.segment_bytes / kernels::bytes_of(execution.element);
  Plan plan = plan_of(list, transport.rank(), segment);
  return std::make_unique<ScheduledCollective>(transport, algorithm, problem, std::move(plan), execution);
}

}  // namespace eflops::comm
