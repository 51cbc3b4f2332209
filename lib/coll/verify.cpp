#include "coll/verify.h"

#include <array>
#include <bitset>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/hash.h"

namespace eflops::coll {
namespace {

constexpr int kMostRanks = 256;

/// The sum of element `element` of the ranks in `from`; empty if no rank is in it.
struct Symbol {
  std::int64_t element = -1;
  std::bitset<kMostRanks> from;
  std::uint64_t tree = 0;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// XXH3 of two numbers.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const std::array<std::uint64_t, 2> both{a, b};
  return hash64(std::as_bytes(std::span(both)));
}

std::uint64_t leaf(int rank) { return mixed(static_cast<std::uint64_t>(rank), 0); }
std::uint64_t node(std::uint64_t a, std::uint64_t b) { return mixed(a + b, a ^ b); }

struct Fault {
  std::string text;
};

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Fault{fmt::format(format, std::forward<Args>(args)...)};
}

class SymbolicRun {
 public:
  SymbolicRun(const Problem& problem, std::span<const RankSchedule> lists) : problem_(problem), lists_(lists) {
    if (lists.size() != static_cast<std::size_t>(problem.ranks)) {
      fail("{} lists for {} ranks", lists.size(), problem.ranks);
    }
    for (int rank = 0; rank < problem.ranks; ++rank) {
      const auto elements = static_cast<std::size_t>(problem.elements);
      auto& memory = memory_.emplace_back();
      memory[0].resize(elements);
      memory[1].resize(problem.collective == Collective::AllToAll ? elements : 0);
      memory[2].resize(static_cast<std::size_t>(list(rank).scratch_elements));
      for (std::int64_t element = 0; element < problem.elements; ++element) {
        if (!contributes(rank, element)) continue;
        Symbol& symbol = memory[problem.collective == Collective::AllToAll ? 1 : 0][static_cast<std::size_t>(element)];
        symbol.element = element;
        symbol.from.set(static_cast<std::size_t>(rank));
        symbol.tree = leaf(rank);
      }
    }
  }

  void run() {
    check_order();
    for (int round = 0; round < list(0).rounds; ++round) run_round(round);
    for (int rank = 0; rank < problem_.ranks; ++rank) check_result(rank);
  }

  /// By element, from rank 0 or, after a reduce-scatter, from the rank that owns it.
  std::vector<std::uint64_t> trees() const {
    std::vector<std::uint64_t> result(static_cast<std::size_t>(problem_.elements));
    const bool scattered = problem_.collective == Collective::ReduceScatter;
    for (int rank = 0; rank < (scattered ? problem_.ranks : 1); ++rank) {
      const Range own = scattered ? block_of(problem_.all(), problem_.ranks, rank) : problem_.all();
      for (auto i = static_cast<std::size_t>(own.begin); i < static_cast<std::size_t>(own.end); ++i) {
        result[i] = memory_[static_cast<std::size_t>(rank)][0][i].tree;
      }
    }
    return result;
  }

 private:
  using Memory = std::array<std::vector<Symbol>, 3>;
  struct Message {
    std::int64_t elements = 0;
    std::vector<Symbol> symbols;
  };

  const RankSchedule& list(int rank) const { return lists_[static_cast<std::size_t>(rank)]; }

  bool contributes(int rank, std::int64_t element) const {
    if (problem_.collective == Collective::Broadcast) return rank == problem_.root;
    if (problem_.collective != Collective::AllGather) return true;
    const Range own = block_of(problem_.all(), problem_.ranks, rank);
    return element >= own.begin && element < own.end;
  }

  void check_order() const {
    for (int rank = 0; rank < problem_.ranks; ++rank) {
      if (list(rank).rounds != list(0).rounds) {
        fail("rank {} counts {} rounds, rank 0 {}", rank, list(rank).rounds, list(0).rounds);
      }
      const Transfer* before = nullptr;
      for (const Transfer& transfer : list(rank).transfers) {
        if (transfer.round < 0 || transfer.round >= list(rank).rounds) {
          fail("rank {}: round {} of {}", rank, transfer.round, list(rank).rounds);
        }
        if (transfer.peer < 0 || transfer.peer >= problem_.ranks) fail("rank {}: no rank {}", rank, transfer.peer);
        const auto& buffer = memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(transfer.buffer)];
        if (transfer.range.begin < 0 || transfer.range.empty() ||
            transfer.range.end > static_cast<std::int64_t>(buffer.size())) {
          fail("rank {} round {}: [{}, {}) of {} elements", rank, transfer.round, transfer.range.begin,
               transfer.range.end, buffer.size());
        }
        if (before != nullptr &&
            (before->round > transfer.round ||
             (before->round == transfer.round && before->kind != Kind::Send && transfer.kind == Kind::Send))) {
          fail("rank {} round {}: not in order", rank, transfer.round);
        }
        before = &transfer;
      }
    }
  }

  void run_round(int round) {
    std::map<std::pair<int, int>, std::vector<Message>> sent;
    for (int rank = 0; rank < problem_.ranks; ++rank) {
      for_round(rank, round, [&](const Transfer& transfer) {
        if (transfer.kind == Kind::Send) sent[{rank, transfer.peer}].push_back(message(rank, transfer));
      });
    }
    for (int rank = 0; rank < problem_.ranks; ++rank) {
      std::map<int, std::size_t> taken;
      for_round(rank, round, [&](const Transfer& transfer) {
        if (transfer.kind == Kind::Send) return;
        const auto messages = sent.find({transfer.peer, rank});
        const std::size_t index = taken[transfer.peer]++;
        if (messages == sent.end() || index >= messages->second.size()) {
          fail("round {}: rank {} waits for rank {}, which sends nothing", round, rank, transfer.peer);
        }
        apply(rank, transfer, messages->second[index]);
      });
      for (const auto& [peer, count] : taken) {
        if (count == sent[{peer, rank}].size()) sent.erase({peer, rank});
      }
    }
    if (!sent.empty()) {
      fail("round {}: rank {} sends to rank {}, which does not receive", round, sent.begin()->first.first,
           sent.begin()->first.second);
    }
    for (int rank = 0; rank < problem_.ranks; ++rank) {
      std::size_t& next = next_[rank];
      while (next < list(rank).transfers.size() && list(rank).transfers[next].round == round) ++next;
    }
  }

  void for_round(int rank, int round, const auto& visit) {
    const auto& transfers = list(rank).transfers;
    for (std::size_t i = next_[rank]; i < transfers.size() && transfers[i].round == round; ++i) visit(transfers[i]);
  }

  Message message(int rank, const Transfer& transfer) const {
    const auto& buffer = memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(transfer.buffer)];
    Message result{transfer.range.size(), {buffer.begin() + transfer.range.begin, buffer.begin() + transfer.range.end}};
    for (std::int64_t i = 0; i < result.elements; ++i) {
      if (result.symbols[static_cast<std::size_t>(i)].from.none()) {
        fail("round {}: rank {} sends element {}, which it does not have", transfer.round, rank,
             transfer.range.begin + i);
      }
    }
    return result;
  }

  void apply(int rank, const Transfer& transfer, const Message& message) {
    if (message.elements != transfer.range.size()) {
      fail("round {}: rank {} sends {} elements, rank {} expects {}", transfer.round, transfer.peer, message.elements,
           rank, transfer.range.size());
    }
    auto& buffer = memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(transfer.buffer)];
    for (std::int64_t i = 0; i < message.elements; ++i) {
      Symbol& here = buffer[static_cast<std::size_t>(transfer.range.begin + i)];
      const Symbol& come = message.symbols[static_cast<std::size_t>(i)];
      if (transfer.kind == Kind::Copy) {
        if (here == come) {
          fail("round {}: rank {} gets element {} from rank {} in vain", transfer.round, rank, come.element,
               transfer.peer);
        }
        here = come;
        continue;
      }
      if (here.element != come.element) {
        fail("round {}: rank {} adds element {} to element {}", transfer.round, rank, come.element, here.element);
      }
      if (const auto twice = here.from & come.from; twice.any()) {
        fail("round {}: rank {} adds rank {}'s element {} twice", transfer.round, rank, twice._Find_first(),
             come.element);
      }
      here.from |= come.from;
      here.tree = node(here.tree, come.tree);
    }
  }

  /// What rank's Data holds at `element` in the end; nothing where the collective leaves it open.
  std::optional<Symbol> expected(int rank, std::int64_t element) const {
    Symbol symbol{element, {}, 0};
    switch (problem_.collective) {
      case Collective::ReduceScatter: {
        const Range own = block_of(problem_.all(), problem_.ranks, rank);
        if (element < own.begin || element >= own.end) return std::nullopt;
        [[fallthrough]];
      }
      case Collective::Allreduce:
        for (int from = 0; from < problem_.ranks; ++from) symbol.from.set(static_cast<std::size_t>(from));
        return symbol;
      case Collective::Broadcast:
        symbol.from.set(static_cast<std::size_t>(problem_.root));
        return symbol;
      case Collective::AllGather:
        for (int from = 0; from < problem_.ranks; ++from) {
          if (contributes(from, element)) symbol.from.set(static_cast<std::size_t>(from));
        }
        return symbol;
      case Collective::AllToAll: {
        const std::int64_t block = problem_.elements / problem_.ranks;
        symbol.from.set(static_cast<std::size_t>(element / block));
        symbol.element = rank * block + element % block;
        return symbol;
      }
    }
    return std::nullopt;
  }

  void check_result(int rank) const {
    const auto& data = memory_[static_cast<std::size_t>(rank)][0];
    for (std::int64_t element = 0; element < problem_.elements; ++element) {
      const std::optional<Symbol> wanted = expected(rank, element);
      if (!wanted) continue;
      const Symbol& found = data[static_cast<std::size_t>(element)];
      if (found.element != wanted->element || found.from != wanted->from) {
        fail("at the end rank {} holds at {} element {} of {} ranks instead of element {} of {}", rank, element,
             found.element, found.from.count(), wanted->element, wanted->from.count());
      }
      if (problem_.collective == Collective::Allreduce &&
          found.tree != memory_[0][0][static_cast<std::size_t>(element)].tree) {
        fail("rank {} adds element {} in another order than rank 0", rank, element);
      }
    }
  }

  const Problem& problem_;
  std::span<const RankSchedule> lists_;
  std::vector<Memory> memory_;
  std::map<int, std::size_t> next_;
};

}  // namespace

Verdict verify(const Problem& problem, std::span<const RankSchedule> lists) {
  EFLOPS_CHECK(problem.ranks >= 1 && problem.ranks <= kMostRanks, "verify takes 1 to {} ranks, not {}", kMostRanks,
               problem.ranks);
  try {
    SymbolicRun run(problem, lists);
    run.run();
    return {"", run.trees()};
  } catch (const Fault& fault) {
    return {fault.text, {}};
  }
}

std::uint64_t balanced_tree(int ranks) {
  std::vector<std::uint64_t> level;
  for (int rank = 0; rank < ranks; ++rank) level.push_back(leaf(rank));
  while (level.size() > 1) {
    EFLOPS_CHECK(level.size() % 2 == 0, "a balanced tree needs a power of two, not {}", ranks);
    std::vector<std::uint64_t> above;
    for (std::size_t i = 0; i < level.size(); i += 2) above.push_back(node(level[i], level[i + 1]));
    level = std::move(above);
  }
  return level.front();
}

}  // namespace eflops::coll
