#include "comm/mpi_collective.h"

#include <mpi.h>

#include <limits>

#include "base/error.h"
#include "comm/mpi_check.h"
#include "comm/watchdog.h"

namespace eflops::comm {
namespace {

using kernels::Element;
using kernels::Reduction;

/// MPI_UINT64_T and its like: Open MPI 4.1.4 compares MPI_UNSIGNED_LONG as signed (known_faults C8).
MPI_Datatype type_of(Element element) {
  switch (element) {
    case Element::F32:
      return MPI_FLOAT;
    case Element::F64:
      return MPI_DOUBLE;
    case Element::BF16:
    case Element::F16:
      return MPI_UINT16_T;
    case Element::I8:
      return MPI_INT8_T;
    case Element::U8:
      return MPI_UINT8_T;
    case Element::I32:
      return MPI_INT32_T;
    case Element::U32:
      return MPI_UINT32_T;
    case Element::I64:
      return MPI_INT64_T;
    case Element::U64:
      return MPI_UINT64_T;
  }
  throw InternalError("element type {} has no MPI type", static_cast<int>(element));
}

MPI_Op built_in(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Average:
      return MPI_SUM;
    case Reduction::Product:
      return MPI_PROD;
    case Reduction::Min:
      return MPI_MIN;
    case Reduction::Max:
      return MPI_MAX;
  }
  throw InternalError("reduction {} has no MPI operation", static_cast<int>(reduction));
}

/// An MPI operation knows nothing but its type, so each pair of element and reduction is a function.
template <Element kElement, Reduction kReduction>
void reduce_halves(void* in, void* in_out, int* count, MPI_Datatype* /*type*/) {
  kernels::reduce(kReduction, kElement, in_out, in, in_out, *count);
}

template <Element kElement>
MPI_User_function* halves(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Average:
      return reduce_halves<kElement, Reduction::Sum>;
    case Reduction::Product:
      return reduce_halves<kElement, Reduction::Product>;
    case Reduction::Min:
      return reduce_halves<kElement, Reduction::Min>;
    case Reduction::Max:
      return reduce_halves<kElement, Reduction::Max>;
  }
  throw InternalError("reduction {} has no MPI operation", static_cast<int>(reduction));
}

class MpiAllreduce final : public PreparedCollective {
 public:
  MpiAllreduce(const coll::Problem& problem, const Execution& execution)
      : problem_(problem), execution_(execution), operation_(built_in(execution.reduction)) {
    const bool bf16 = execution.element == Element::BF16;
    if (bf16 || execution.element == Element::F16) {
      MPI_User_function* const function =
          bf16 ? halves<Element::BF16>(execution.reduction) : halves<Element::F16>(execution.reduction);
      check_mpi(MPI_Op_create(function, 1, &operation_), "MPI_Op_create");
      owned_ = true;
    }
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  }
  ~MpiAllreduce() override {
    if (owned_) MPI_Op_free(&operation_);
  }
  MpiAllreduce(const MpiAllreduce&) = delete;
  MpiAllreduce& operator=(const MpiAllreduce&) = delete;

  std::string algorithm() const override { return "mpi"; }

  void run(std::span<const std::byte> in, std::span<std::byte> out, Deadline deadline) override {
    watchdog_.arm(deadline, fmt::format("rank {}: MPI_Allreduce of {} elements did not return in time", rank_,
                                        problem_.elements));
    const bool in_place = in.data() == out.data();
    check_mpi(MPI_Allreduce(in_place ? MPI_IN_PLACE : in.data(), out.data(), static_cast<int>(problem_.elements),
                            type_of(execution_.element), operation_, MPI_COMM_WORLD),
              "MPI_Allreduce");
    watchdog_.disarm();
    if (execution_.reduction == Reduction::Average) {
      kernels::average_of(execution_.element, out.data(), problem_.elements, problem_.ranks);
    }
  }

 private:
  coll::Problem problem_;
  Execution execution_;
  MPI_Op operation_;
  bool owned_ = false;
  int rank_ = 0;
  Watchdog watchdog_;
};

}  // namespace

std::unique_ptr<PreparedCollective> prepare_mpi_allreduce(const coll::Problem& problem, const Execution& execution) {
  EFLOPS_CHECK(problem.collective == coll::Collective::Allreduce, "MPI_Allreduce for {}",
               coll::collective_name(problem.collective));
  if (problem.elements > std::numeric_limits<int>::max()) {
    throw ConfigError("MPI_Allreduce takes at most {} elements, not {}", std::numeric_limits<int>::max(),
                      problem.elements);
  }
  return std::make_unique<MpiAllreduce>(problem, execution);
}

}  // namespace eflops::comm
