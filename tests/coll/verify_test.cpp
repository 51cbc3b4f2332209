#include "coll/verify.h"

#include <gmock/gmock.h>

#include "tests/coll/problems.h"

namespace eflops::coll {
namespace {

using ::testing::HasSubstr;

using Lists = std::vector<RankSchedule>;

/// One transfer, by both its ends.
struct Pair {
  std::size_t from = 0;
  std::size_t send = 0;
  std::size_t to = 0;
  std::size_t receive = 0;
};

std::vector<Pair> pairs_of(const Lists& lists) {
  std::vector<Pair> pairs;
  for (std::size_t from = 0; from < lists.size(); ++from) {
    for (std::size_t send = 0; send < lists[from].transfers.size(); ++send) {
      const Transfer& sent = lists[from].transfers[send];
      if (sent.kind != Kind::Send) continue;
      const auto is_same_way = [&](const Transfer& t, bool is_send, std::size_t peer) {
        return t.round == sent.round && (t.kind == Kind::Send) == is_send && t.peer == static_cast<int>(peer);
      };
      int index = 0;  // how many sends this way come before it in the round
      for (std::size_t i = 0; i < send; ++i) {
        index += is_same_way(lists[from].transfers[i], true, static_cast<std::size_t>(sent.peer)) ? 1 : 0;
      }
      const auto to = static_cast<std::size_t>(sent.peer);
      for (std::size_t receive = 0; receive < lists[to].transfers.size(); ++receive) {
        if (is_same_way(lists[to].transfers[receive], false, from) && index-- == 0) {
          pairs.push_back({from, send, to, receive});
          break;
        }
      }
    }
  }
  return pairs;
}

void erase(RankSchedule& list, std::size_t index) {
  list.transfers.erase(list.transfers.begin() + static_cast<std::ptrdiff_t>(index));
}

void insert_again(RankSchedule& list, std::size_t index) {
  list.transfers.insert(list.transfers.begin() + static_cast<std::ptrdiff_t>(index), list.transfers[index]);
}

/// Every way this test spoils one transfer.
struct Mutation {
  const char* name;
  void (*apply)(Lists&, const Pair&);
};

constexpr const char* kRedirected = "sent to the next rank";

constexpr Mutation kMutations[] = {
    {"dropped",
     [](Lists& lists, const Pair& pair) {
       erase(lists[pair.to], pair.receive);  // the receive first: in a move inside one rank it stands behind the send
       erase(lists[pair.from], pair.send);
     }},
    {"doubled",
     [](Lists& lists, const Pair& pair) {
       insert_again(lists[pair.to], pair.receive);
       insert_again(lists[pair.from], pair.send);
     }},
    {kRedirected,
     [](Lists& lists, const Pair& pair) {
       const std::size_t other = (pair.to + 1) % lists.size();
       Transfer moved = lists[pair.to].transfers[pair.receive];
       erase(lists[pair.to], pair.receive);
       lists[pair.from].transfers[pair.send].peer = static_cast<int>(other);
       auto& list = lists[other].transfers;
       auto place = list.begin();
       while (place != list.end() && place->round <= moved.round) ++place;
       list.insert(place, moved);
     }},
    {"received as the other kind",
     [](Lists& lists, const Pair& pair) {
       Kind& kind = lists[pair.to].transfers[pair.receive].kind;
       kind = kind == Kind::Copy ? Kind::Reduce : Kind::Copy;
     }},
    {"one element short",
     [](Lists& lists, const Pair& pair) {
       --lists[pair.from].transfers[pair.send].range.end;
       --lists[pair.to].transfers[pair.receive].range.end;
     }},
    {"of other elements",
     [](Lists& lists, const Pair& pair) {
       Range& range = lists[pair.from].transfers[pair.send].range;
       const std::int64_t shift = range.begin > 0 ? -1 : 1;
       range = {range.begin + shift, range.end + shift};
     }},
};

TEST(Verify, RejectsEveryMutantThatIsNotARightScheduleOfAnotherOrder) {
  int mutants = 0;
  int survivors = 0;
  for (const int ranks : {2, 3, 4, 5, 8}) {
    test::for_each_problem(ranks, [&](const Algorithm& algorithm, const Problem& problem) {
      if (problem.elements != 2 * ranks + 3 && problem.elements != (2 * ranks + 3) * ranks) return;
      const Lists lists = build_all(algorithm, problem);
      const auto trees = verify(problem, lists).trees;
      for (const Pair& pair : pairs_of(lists)) {
        for (const Mutation& mutation : kMutations) {
          Lists mutant = lists;
          mutation.apply(mutant, pair);
          ++mutants;
          // Redirecting a partial sum may give another right schedule; then it adds in another tree, and shows it.
          const Verdict verdict = verify(problem, mutant);
          const bool is_another_tree = verdict.trees != trees && std::string(mutation.name) == kRedirected;
          survivors += verdict.right() && is_another_tree ? 1 : 0;
          EXPECT_FALSE(verdict.right() && !is_another_tree)
              << test::described(algorithm, problem) << ": transfer " << pair.send << " of rank " << pair.from << " "
              << mutation.name;
        }
      }
    });
  }
  EXPECT_GT(mutants, 10000);
  EXPECT_LT(survivors, mutants / 20);
}

std::string fault(const Problem& problem, const Lists& lists) { return verify(problem, lists).fault; }

TEST(Verify, SaysWhatIsWrong) {
  const Problem two{.ranks = 2, .elements = 4};
  const auto list = [](std::vector<Transfer> transfers, int rounds) {
    return RankSchedule{std::move(transfers), rounds, 0};
  };
  const Transfer send0{0, 1, Kind::Send, Buffer::Data, {0, 4}};
  const Transfer reduce0{0, 1, Kind::Reduce, Buffer::Data, {0, 4}};
  const Transfer send1{0, 0, Kind::Send, Buffer::Data, {0, 4}};
  const Transfer reduce1{0, 0, Kind::Reduce, Buffer::Data, {0, 4}};
  EXPECT_EQ(fault(two, {list({send0, reduce0}, 1), list({send1, reduce1}, 1)}), "");
  EXPECT_EQ(fault(two, {list({}, 1)}), "1 lists for 2 ranks");
  EXPECT_EQ(fault(two, {list({}, 1), list({}, 2)}), "rank 1 counts 2 rounds, rank 0 1");
  EXPECT_THAT(fault(two, {list({}, 1), list({}, 1)}), HasSubstr("at the end rank 0 holds at 0 element 0 of 1 ranks"));
  EXPECT_EQ(fault(two, {list({send0, reduce0}, 1), list({reduce1}, 1)}),
            "round 0: rank 0 waits for rank 1, which sends nothing");
  EXPECT_EQ(fault(two, {list({send0}, 1), list({}, 1)}), "round 0: rank 0 sends to rank 1, which does not receive");
  EXPECT_EQ(fault(two, {list({reduce0, send0}, 1), list({send1, reduce1}, 1)}), "rank 0 round 0: not in order");
  Transfer beyond = send0;
  beyond.range = {1, 5};
  EXPECT_EQ(fault(two, {list({beyond}, 1), list({}, 1)}), "rank 0 round 0: [1, 5) of 4 elements");
  Transfer stranger = send0;
  stranger.peer = 2;
  EXPECT_EQ(fault(two, {list({stranger}, 1), list({}, 1)}), "rank 0: no rank 2");
  Transfer late = send0;
  late.round = 1;
  EXPECT_EQ(fault(two, {list({late}, 1), list({}, 1)}), "rank 0: round 1 of 1");
}

TEST(Verify, SeesThatRanksAddInDifferentOrders) {
  // Three ranks send everything to everyone: rank 0 adds (0+1)+2, rank 1 (1+0)+2, but rank 2 (2+0)+1.
  const Problem problem{.ranks = 3, .elements = 1};
  Lists lists;
  for (int rank = 0; rank < 3; ++rank) {
    RankSchedule list{{}, 1, 0};
    for (int peer = 0; peer < 3; ++peer) {
      if (peer != rank) list.transfers.push_back({0, peer, Kind::Send, Buffer::Data, {0, 1}});
    }
    for (int peer = 0; peer < 3; ++peer) {
      if (peer != rank) list.transfers.push_back({0, peer, Kind::Reduce, Buffer::Data, {0, 1}});
    }
    lists.push_back(list);
  }
  EXPECT_EQ(fault(problem, lists), "rank 2 adds element 0 in another order than rank 0");
}

}  // namespace
}  // namespace eflops::coll
