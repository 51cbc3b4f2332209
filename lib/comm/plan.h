#pragma once

#include <cstdint>
#include <vector>

#include "coll/schedule.h"

namespace eflops::comm {

/// The buffers of a plan: those of its schedule, and the staging memory that the plan adds.
enum class Memory : std::uint8_t { Data, Input, Scratch, Stage };

/// One piece of work of one rank.
struct Operation {
  enum class Kind : std::uint8_t { Send, Receive, Local };
  Kind kind = Kind::Send;
  bool with_input = false;       ///< of a reduction: with the same elements of Input instead of the target's
  bool reduces = false;          ///< what comes is reduced into the target instead of replacing it
  int peer = 0;                  ///< of a send or a receive
  Memory memory = Memory::Data;  ///< read by a send, written by the others
  coll::Range range;
  Memory from = Memory::Data;  ///< what a local move reads, at source_begin
  std::int64_t source_begin = 0;
  int waits_for = 0;           ///< how many earlier operations must end first
  std::vector<int> then = {};  ///< operations that wait for this one
};

/// A rank's schedule, cut into segments, with its order reduced to what the data need: an operation waits for the
/// earlier ones that touch its elements where one of both writes. So segments flow through the rounds one behind the
/// other.
struct Plan {
  std::vector<Operation> operations;  ///< sends and receives of one peer stay in the order of the schedule
  std::int64_t scratch_elements = 0;
  std::int64_t stage_elements = 0;
};

/// Where a rank's contribution lies when a plan begins.
enum class Origin {
  Data,   ///< where the result will be
  Input,  ///< in a buffer of its own, which the plan reads in place of elements of Data that nothing has written yet
};

/// Cuts every transfer at multiples of segment_elements from its begin (0: not cut). What arrives in a round for
/// elements that the rank sends in the same round goes to staging memory first: both sides of an exchange would
/// otherwise wait for each other's receive. With Origin::Input the elements of Data in `result` are all written in the
/// end.
Plan plan_of(const coll::RankSchedule& schedule, int rank, std::int64_t segment_elements, Origin origin = Origin::Data,
             coll::Range result = {});

}  // namespace eflops::comm
