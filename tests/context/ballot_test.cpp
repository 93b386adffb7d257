#include "world/ballot.h"

#include "world/site.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace cohort::test {
namespace {

using world::Ballot;
using world::Ballots;
using world::next_ballot;
using world::Reach;

/// Members that look for survivors, as a state of a search: each lays down its ballot and reads those of all
/// in two steps, and may learn of an end, or end itself, between any two.
struct Search {
  struct Process {
    Ballot own;
    std::optional<Ballot> shown{};
    std::optional<Ballots> seen{};  // read since the last ballot was laid down
    bool has_ended = false;
    bool is_done = false;
  };
  std::vector<Process> processes;

  explicit Search(int size) {
    for (int i = 0; i < size; ++i) processes.push_back({.own = Ballot(size)});
  }
  int size() const { return static_cast<int>(processes.size()); }
  Process& at(int rank) { return processes[static_cast<std::size_t>(rank)]; }
  const Process& at(int rank) const { return processes[static_cast<std::size_t>(rank)]; }

  std::string text() const {
    std::string text;
    for (const Process& each : processes) {
      text += each.own.text() + (each.shown ? each.shown->text() : "-") + (each.has_ended ? "e" : "") +
              (each.is_done ? "d" : "");
      if (each.seen) {
        for (const auto& ballot : *each.seen) text += ballot ? ballot->text() : "-";
      }
      text += ";";
    }
    return text;
  }
};

enum class Detector { kCertain, kSuspicious };

/// Visits every state that can be reached.
class Explorer {
 public:
  Explorer(int size, int most_ends, Detector detector)
      : most_ends_(most_ends), detector_(detector), start_(size) {}

  std::size_t explore() {
    std::vector<Search> open{start_};
    while (!open.empty()) {
      const Search state = open.back();
      open.pop_back();
      if (!seen_.insert(state.text()).second) continue;
      check(state);
      for (int rank = 0; rank < state.size(); ++rank) {
        for (Search& next : steps(state, rank)) open.push_back(std::move(next));
      }
      if (testing::Test::HasFailure()) return seen_.size();
    }
    return seen_.size();
  }

 private:
  std::vector<Search> steps(const Search& state, int rank) const {
    std::vector<Search> next;
    const Search::Process& process = state.at(rank);
    if (process.has_ended) return next;
    int num_ended = 0;
    for (const auto& each : state.processes) num_ended += each.has_ended ? 1 : 0;
    if (num_ended < most_ends_) next.emplace_back(state).at(rank).has_ended = true;
    if (process.is_done) return next;
    learn(state, rank, next);
    if (!process.seen) {
      Search& shown = next.emplace_back(state);
      shown.at(rank).shown = process.own;
      Ballots all;
      for (const auto& each : shown.processes) all.push_back(each.shown);
      shown.at(rank).seen = all;
      return next;
    }
    Search& judged = next.emplace_back(state);
    const Ballot ballot = next_ballot(process.own, *process.seen, rank);
    judged.at(rank).own = ballot;
    judged.at(rank).seen.reset();
    if (ballot.is_final) {
      judged.at(rank).shown = ballot;
      judged.at(rank).is_done = true;
    }
    return next;
  }

  // A member learns of an end between two looks at the board: its ballot is laid down again.
  void learn(const Search& state, int rank, std::vector<Search>& next) const {
    if (state.at(rank).seen) return;
    for (int other = 0; other < state.size(); ++other) {
      if (other == rank || state.at(rank).own.has_lost(other)) continue;
      const auto place = static_cast<std::size_t>(other);
      if (state.at(other).has_ended) next.emplace_back(state).at(rank).own.gone[place] = true;
      if (detector_ == Detector::kSuspicious && other == 0) {
        next.emplace_back(state).at(rank).own.silent[place] = true;
      }
    }
  }

  // No two members have different final ballots, unless one of them suspects the other.
  static void check(const Search& state) {
    for (int one = 0; one < state.size(); ++one) {
      for (int other = 0; other < one; ++other) {
        const auto& first = state.at(one);
        const auto& second = state.at(other);
        if (!first.is_done || !second.is_done) continue;
        if (is_suspected(first.own, other) || is_suspected(second.own, one)) continue;
        ASSERT_EQ(first.own, second.own) << state.text();
      }
    }
  }

  static bool is_suspected(const Ballot& ballot, int rank) {
    const auto place = static_cast<std::size_t>(rank);
    return ballot.silent[place] && !ballot.gone[place];
  }

  const int most_ends_;
  const Detector detector_;
  const Search start_;
  std::set<std::string> seen_;
};

TEST(Ballot, SurvivorsAgreeWhoeverEndsWhenever) {
  EXPECT_GT(Explorer(1, 1, Detector::kCertain).explore(), 2u);
  EXPECT_GT(Explorer(2, 2, Detector::kCertain).explore(), 20u);
  EXPECT_GT(Explorer(3, 2, Detector::kCertain).explore(), 1000u);
}

TEST(Ballot, AMemberThatIsWronglySuspectedIsTheOnlyOneThatMayDisagree) {
  EXPECT_GT(Explorer(2, 1, Detector::kSuspicious).explore(), 20u);
  EXPECT_GT(Explorer(3, 1, Detector::kSuspicious).explore(), 1000u);
}

// Lets the members that live take turns until all are done, in worlds of up to five with every set of ends.
TEST(Ballot, EverySetOfSurvivorsIsFound) {
  for (int size = 1; size <= 5; ++size) {
    for (unsigned ended = 0; ended + 1 < (1u << size); ++ended) {
      const auto has_ended = [&](int rank) { return ((ended >> rank) & 1) != 0; };
      std::vector<Ballot> own(static_cast<std::size_t>(size), Ballot(size));
      Ballots board(static_cast<std::size_t>(size));
      for (int turn = 0; turn < 20; ++turn) {
        for (int rank = 0; rank < size; ++rank) {
          const auto place = static_cast<std::size_t>(rank);
          if (has_ended(rank)) continue;
          // Each end is known to one member only, the one after it.
          const int known = (rank + size - 1) % size;
          if (has_ended(known)) own[place].gone[static_cast<std::size_t>(known)] = true;
          for (int other = 0; other < size; ++other) {
            if (own[place].has_lost(other) && has_ended((other + size - 1) % size)) {
              own[place].gone[static_cast<std::size_t>((other + size - 1) % size)] = true;
            }
          }
          board[place] = own[place];
          own[place] = next_ballot(own[place], board, rank);
          if (own[place].is_final) board[place] = own[place];
        }
      }
      for (int rank = 0; rank < size; ++rank) {
        if (has_ended(rank)) continue;
        const Ballot& ballot = own[static_cast<std::size_t>(rank)];
        ASSERT_TRUE(ballot.is_final) << size << " " << ended;
        for (int other = 0; other < size; ++other) EXPECT_EQ(ballot.has_lost(other), has_ended(other));
      }
    }
  }
}

Ballot ballot_of(const std::string& text, int size) {
  return value_or_throw(Ballot::parse(text, size));
}

TEST(Ballot, NobodyIsDoneWhileAMemberThatLivesHasNotCome) {
  EXPECT_FALSE(next_ballot(Ballot(2), {Ballot(2), std::nullopt}, 0).is_final);
  EXPECT_TRUE(next_ballot(Ballot(2), {Ballot(2), Ballot(2)}, 0).is_final);
  EXPECT_TRUE(
      next_ballot(ballot_of("open 01 00", 2), {ballot_of("open 01 00", 2), std::nullopt}, 0).is_final);
}

// Member 2 of three is cut off from 0 and 1, and the first to notice: the two that are left go on.
TEST(Ballot, AMemberThatIsCutOffIsNoWitnessAgainstTheOthers) {
  const Ballot cut_off = ballot_of("open 000 110", 3);
  const Ballots first = {Ballot(3), Ballot(3), cut_off};
  EXPECT_EQ(next_ballot(Ballot(3), first, 1), Ballot(3));
  const Ballot noticed = ballot_of("open 000 001", 3);
  const Ballots second = {noticed, Ballot(3), cut_off};
  EXPECT_EQ(next_ballot(Ballot(3), second, 1).text(), noticed.text());
  const Ballots third = {noticed, noticed, cut_off};
  EXPECT_EQ(next_ballot(noticed, third, 1).text(), "final 000 001");
}

TEST(Ballot, SilenceBetweenHostsNeedsMoreThanHalf) {
  const auto survivors = [](const std::string& text, Reach reach) {
    return survivors_of(ballot_of(text, 4), 0, reach);
  };
  EXPECT_EQ(*survivors("final 0000 0001", Reach::kHosts), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(*survivors("final 0000 0011", Reach::kOneHost), (std::vector<int>{0, 1}));
  EXPECT_EQ(*survivors("final 0111 0000", Reach::kHosts), (std::vector<int>{0}));
  EXPECT_EQ(*survivors("final 0011 0011", Reach::kHosts), (std::vector<int>{0, 1}));
  const auto refused = survivors("final 0000 0011", Reach::kHosts);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kPeerLost);
  EXPECT_EQ(refused.error().rank(), 2);
  EXPECT_EQ(refused.error().message(),
            "ranks 2 and 3 are silent, and only 2 of 4 members are here: the silent ones may be alive and go "
            "on by themselves");
}

TEST(Ballot, AMemberThatTheOthersCountAsLostIsTold) {
  const auto refused = survivors_of(ballot_of("final 00 10", 2), 0, Reach::kOneHost);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "the other members count rank 0 as lost. End this process: the others go on without it.");
}

TEST(Ballot, TextAndBack) {
  for (const std::string& text : {"open 010 001", "final 000 000"}) {
    EXPECT_EQ(ballot_of(text, 3).text(), text);
  }
  for (const std::string& text : {"", "open", "open 01 001", "open 010 0012", "closed 010 001",
                                  "open 010_001", "open 01000001", "open 0 0 001"}) {
    const auto parsed = Ballot::parse(text, 3);
    if (parsed) EXPECT_NE(parsed->text(), text) << text;
    EXPECT_FALSE(parsed) << text;
  }
}

// ----- agree_on_survivors() -----

/// A board whose other members behave as a script says: `losses` are those of each look, the last for ever.
class ScriptedBoard final : public world::Board {
 public:
  using Losses = std::vector<comm::Loss>;
  ScriptedBoard(Ballots others, std::vector<Losses> losses)
      : all_(std::move(others)), losses_(std::move(losses)) {}
  Losses look() override {
    const std::size_t look = num_looks_++;
    return losses_.empty() ? Losses() : losses_[std::min(look, losses_.size() - 1)];
  }
  Result<Ballots> exchange(const Ballot& mine) override {
    all_[0] = mine;
    return all_;
  }
  const Ballots& all() const { return all_; }

 private:
  Ballots all_;
  std::vector<Losses> losses_;
  std::size_t num_looks_ = 0;
};

constexpr world::AgreementOptions kTwo{.num_members = 2, .limit = std::chrono::milliseconds(20)};

TEST(Agreement, AMemberThatSaidFarewellAfterTheEndIsStillASurvivor) {
  ScriptedBoard board({std::nullopt, ballot_of("final 00 00", 2)}, {{{1, comm::Loss::Kind::kLeft}}});
  EXPECT_EQ(*agree_on_survivors(board, kTwo), (std::vector<int>{0, 1}));
}

TEST(Agreement, AMemberThatLeftWithoutABallotIsGone) {
  ScriptedBoard board({std::nullopt, std::nullopt}, {{{1, comm::Loss::Kind::kLeft}}});
  EXPECT_EQ(*agree_on_survivors(board, kTwo), (std::vector<int>{0}));
  EXPECT_EQ(board.all()[0]->text(), "final 01 00");
}

TEST(Agreement, SilenceWithoutAMajorityWaitsForTheWordOfTheLauncher) {
  const std::vector<comm::Loss> silent{{1, comm::Loss::Kind::kSilent}};
  const std::vector<comm::Loss> gone{{1, comm::Loss::Kind::kGone}};
  world::AgreementOptions options{
      .num_members = 2, .reach = Reach::kHosts, .limit = std::chrono::seconds(20)};
  ScriptedBoard board({std::nullopt, std::nullopt}, {silent, silent, silent, silent, gone});
  const auto survivors = agree_on_survivors(board, options);
  ASSERT_TRUE(survivors) << survivors.error().text();
  EXPECT_EQ(*survivors, (std::vector<int>{0}));
  options.limit = std::chrono::milliseconds(5);
  ScriptedBoard never({std::nullopt, std::nullopt}, {silent});
  EXPECT_EQ(agree_on_survivors(never, options).error().code(), ErrorCode::kPeerLost);
}

/// A board of five: members 1 and 2 lay down the ballot of member 0 again, member 4 has ended, and member 3
/// has laid down a ballot before it was lost, or none.
class FollowedBoard final : public world::Board {
 public:
  explicit FollowedBoard(std::optional<Ballot> of_3) : of_3_(std::move(of_3)) {}
  std::vector<comm::Loss> look() override { return {{4, comm::Loss::Kind::kGone}}; }
  Result<Ballots> exchange(const Ballot& mine) override {
    Ballot followed = mine;
    followed.is_final = false;
    return Ballots{mine, followed, followed, of_3_, std::nullopt};
  }

 private:
  const std::optional<Ballot> of_3_;
};

TEST(Agreement, AMemberThatNobodyHasWatchedIsSilentIfItDoesNotCome) {
  for (const std::optional<Ballot>& of_3 : {std::optional<Ballot>(), std::optional(Ballot(5))}) {
    FollowedBoard board(of_3);
    world::AgreementOptions options{
        .num_members = 5, .reach = Reach::kHosts, .limit = std::chrono::milliseconds(20)};
    EXPECT_EQ(agree_on_survivors(board, options).error().code(), ErrorCode::kTimedOut);
    options.absence = world::Absence::kIsSilence;
    const auto survivors = agree_on_survivors(board, options);
    ASSERT_TRUE(survivors) << survivors.error().text();
    EXPECT_EQ(*survivors, (std::vector<int>{0, 1, 2}));
  }
}

TEST(Agreement, AMemberThatLivesAndDoesNotComeIsNamed) {
  ScriptedBoard board({std::nullopt, std::nullopt}, {});
  const auto survivors = agree_on_survivors(board, kTwo);
  ASSERT_FALSE(survivors);
  EXPECT_EQ(survivors.error().code(), ErrorCode::kTimedOut);
  EXPECT_EQ(survivors.error().rank(), 1);
  EXPECT_FALSE(survivors.error().remedy().empty());
}

}  // namespace
}  // namespace cohort::test
