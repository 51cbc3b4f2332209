#include "comm/plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"

namespace eflops::comm {
namespace {

using coll::Kind;
using coll::Range;
using coll::Transfer;

/// Who touched which elements of one buffer last.
class Touched {
 public:
  /// Adds to `before` the operations that must end before `operation` may touch the range, and notes the touch.
  void touch(Range range, bool writes, int operation, std::set<int>& before) {
    split(range.begin);
    split(range.end);
    cover(range);
    for (auto piece = pieces_.find(range.begin); piece != pieces_.end() && piece->first < range.end; ++piece) {
      Piece& touched = piece->second;
      if (touched.writer >= 0) before.insert(touched.writer);
      if (writes) {
        before.insert(touched.readers.begin(), touched.readers.end());
        touched.writer = operation;
        touched.readers.clear();
      } else {
        touched.readers.push_back(operation);
      }
    }
  }

 private:
  struct Piece {
    std::int64_t end = 0;
    int writer = -1;
    std::vector<int> readers;
  };

  /// Makes `at` a border if it lies inside a piece.
  void split(std::int64_t at) {
    auto piece = pieces_.lower_bound(at);
    if (piece == pieces_.begin()) return;
    --piece;
    if (piece->first == at || piece->second.end <= at) return;
    Piece upper = piece->second;
    piece->second.end = at;
    pieces_.emplace(at, std::move(upper));
  }

  /// Fills the gaps of the range with untouched pieces.
  void cover(Range range) {
    std::int64_t at = range.begin;
    while (at < range.end) {
      const auto next = pieces_.lower_bound(at);
      if (next != pieces_.end() && next->first == at) {
        at = next->second.end;
        continue;
      }
      const std::int64_t end = next == pieces_.end() ? range.end : std::min(range.end, next->first);
      pieces_[at] = {end, -1, {}};
      at = end;
    }
  }

  std::map<std::int64_t, Piece> pieces_;  // by begin; they do not overlap
};

/// The elements of Data that hold something.
class Written {
 public:
  /// The parts of a range that are not written, in order.
  std::vector<Range> gaps(Range range) const {
    std::vector<Range> found;
    std::int64_t at = range.begin;
    auto piece = pieces_.upper_bound(range.begin);
    if (piece != pieces_.begin()) at = std::max(at, std::prev(piece)->second);
    for (; piece != pieces_.end() && piece->first < range.end; ++piece) {
      if (piece->first > at) found.push_back({at, piece->first});
      at = std::max(at, piece->second);
    }
    if (at < range.end) found.push_back({at, range.end});
    return found;
  }

  void add(Range range) {
    for (const Range gap : gaps(range)) {
      // Joined to the piece that ends where the gap begins, so that whole ranges stay few pieces.
      auto after = pieces_.upper_bound(gap.begin);
      if (after != pieces_.begin() && std::prev(after)->second == gap.begin) {
        std::prev(after)->second = gap.end;
      } else {
        pieces_[gap.begin] = gap.end;
      }
    }
  }

 private:
  std::map<std::int64_t, std::int64_t> pieces_;  // begin to end; they do not overlap
};

class Planner {
 public:
  Planner(int rank, std::int64_t segment_elements, Origin origin)
      : rank_(rank), segment_(segment_elements), origin_(origin) {}

  /// Transfers [first, last) of a schedule: one round.
  void add_round(const Transfer* first, const Transfer* last) {
    const Transfer* receives = std::find_if(first, last, [](const Transfer& t) { return t.kind != Kind::Send; });
    std::vector<const Transfer*> own;  // sends to the rank itself, which its receives from itself take in order
    for (const Transfer* send = first; send != receives; ++send) {
      if (send->peer == rank_) {
        own.push_back(send);
      } else {
        for_segments(send->range, [&](Range part) {
          const Memory memory = send->buffer == coll::Buffer::Data ? readable(part) : memory_of(*send);
          add({.kind = Operation::Kind::Send, .peer = send->peer, .memory = memory, .range = part});
          if (memory == memory_of(*send)) sent_.push_back({send->buffer, part});
        });
      }
    }
    std::int64_t staged = 0;
    std::size_t next_own = 0;
    for (const Transfer* receive = receives; receive != last; ++receive) {
      if (receive->peer == rank_) {
        EFLOPS_CHECK(next_own < own.size(), "rank {} receives from itself what it does not send", rank_);
        move(memory_of(*own[next_own]), own[next_own]->range.begin, *receive);
        ++next_own;
      } else if (must_be_staged(*receive)) {
        const Transfer to_stage{receive->round, receive->peer, Kind::Copy, receive->buffer, receive->range};
        add_receive(to_stage, Memory::Stage, staged);
        later_.push_back({receive, staged});
        staged += receive->range.size();
      } else {
        add_receive(*receive, memory_of(*receive), receive->range.begin);
      }
    }
    for (const auto& [receive, at] : later_) move(Memory::Stage, at, *receive);
    later_.clear();
    sent_.clear();
    plan_.stage_elements = std::max(plan_.stage_elements, staged);
  }

  Plan finish(std::int64_t scratch_elements, Range result) {
    if (origin_ == Origin::Input) fill(result);
    plan_.scratch_elements = scratch_elements;
    return std::move(plan_);
  }

 private:
  static Memory memory_of(const Transfer& transfer) { return static_cast<Memory>(transfer.buffer); }

  static bool overlap(Range a, Range b) { return a.begin < b.end && b.begin < a.end; }

  /// Whether the rank sends from where it receives, or a receive before this one for the same elements was staged.
  bool must_be_staged(const Transfer& receive) const {
    const auto same = [&](coll::Buffer buffer, Range range) {
      return buffer == receive.buffer && overlap(range, receive.range);
    };
    return std::any_of(sent_.begin(), sent_.end(), [&](const auto& send) { return same(send.first, send.second); }) ||
           std::any_of(later_.begin(), later_.end(),
                       [&](const auto& other) { return same(other.first->buffer, other.first->range); });
  }

  /// Copies the elements of the range that Data does not hold yet from Input.
  void fill(Range range) {
    for (const Range gap : written_.gaps(range)) {
      for_segments(gap, [&](Range part) {
        add({.kind = Operation::Kind::Local,
             .peer = rank_,
             .memory = Memory::Data,
             .range = part,
             .from = Memory::Input,
             .source_begin = part.begin});
      });
    }
    written_.add(range);
  }

  /// Where to read elements of Data: in Input if Data holds none of them. Where it holds some, the others are filled
  /// in.
  Memory readable(Range range) {
    if (origin_ == Origin::Data) return Memory::Data;
    const std::vector<Range> gaps = written_.gaps(range);
    if (gaps.size() == 1 && gaps[0] == range) return Memory::Input;
    fill(range);
    return Memory::Data;
  }

  /// Notes that elements of a memory get written, and whether a reduction into them reads Input instead.
  bool takes_input(Memory memory, Range range, bool reduces) {
    if (origin_ == Origin::Data || memory != Memory::Data) return false;
    const bool with_input = reduces && readable(range) == Memory::Input;
    written_.add(range);
    return with_input;
  }

  void for_segments(Range range, const auto& visit) const {
    const std::int64_t step = segment_ > 0 ? segment_ : range.size();
    for (std::int64_t begin = range.begin; begin < range.end; begin += step) {
      visit(Range{begin, std::min(begin + step, range.end)});
    }
  }

  void add_receive(const Transfer& receive, Memory memory, std::int64_t begin) {
    for_segments({begin, begin + receive.range.size()}, [&](Range part) {
      const bool reduces = receive.kind == Kind::Reduce;
      const bool with_input = takes_input(memory, part, reduces);
      add({.kind = Operation::Kind::Receive,
           .with_input = with_input,
           .reduces = reduces,
           .peer = receive.peer,
           .memory = memory,
           .range = part});
    });
  }

  /// A move inside the rank, from `from` at source_begin to where `receive` wants it.
  void move(Memory from, std::int64_t source_begin, const Transfer& receive) {
    for_segments(receive.range, [&](Range part) {
      const bool reduces = receive.kind == Kind::Reduce;
      const bool with_input = takes_input(memory_of(receive), part, reduces);
      add({.kind = Operation::Kind::Local,
           .with_input = with_input,
           .reduces = reduces,
           .peer = rank_,
           .memory = memory_of(receive),
           .range = part,
           .from = from,
           .source_begin = source_begin + part.begin - receive.range.begin});
    });
  }

  void add(Operation operation) {
    const int index = static_cast<int>(plan_.operations.size());
    std::set<int> before;
    const bool writes = operation.kind != Operation::Kind::Send;
    if (operation.kind == Operation::Kind::Local) {
      const Range source{operation.source_begin, operation.source_begin + operation.range.size()};
      touched(operation.from).touch(source, false, index, before);
    }
    touched(operation.memory).touch(operation.range, writes, index, before);
    before.erase(index);
    operation.waits_for = static_cast<int>(before.size());
    for (const int earlier : before) plan_.operations[static_cast<std::size_t>(earlier)].then.push_back(index);
    plan_.operations.push_back(std::move(operation));
  }

  Touched& touched(Memory memory) { return touched_[static_cast<std::size_t>(memory)]; }

  int rank_;
  std::int64_t segment_;
  Origin origin_;
  Written written_;  // with Origin::Input
  Plan plan_;
  std::array<Touched, 4> touched_;
  std::vector<std::pair<coll::Buffer, Range>> sent_;             // what this round's sends read
  std::vector<std::pair<const Transfer*, std::int64_t>> later_;  // staged receives of this round and where they lie
};

}  // namespace

Plan plan_of(const coll::RankSchedule& schedule, int rank, std::int64_t segment_elements, Origin origin, Range result) {
  EFLOPS_CHECK(segment_elements >= 0, "segments of {} elements", segment_elements);
  Planner planner(rank, segment_elements, origin);
  const Transfer* const end = schedule.transfers.data() + schedule.transfers.size();
  for (const Transfer* first = schedule.transfers.data(); first != end;) {
    const Transfer* last = std::find_if(first, end, [first](const Transfer& t) { return t.round != first->round; });
    planner.add_round(first, last);
    first = last;
  }
  return planner.finish(schedule.scratch_elements, result);
}

}  // namespace eflops::comm
