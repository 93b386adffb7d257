#include "copies/neighbour_copies.h"

#include "comm/conformance/message_passing_kind.h"
#include "comm/conformance/shared_memory_kind.h"
#include "copies/kept_state.h"
#include "state/move.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

class Copies : public Conformance {};

std::vector<Kind> kinds_with_copies() {
  std::vector<Kind> kinds = {shared_memory_kind("shared_memory", InArena::kNobodys)};
  for (const NetworkKind& network : network_kinds()) {
    if (network.name == "loopback" || network.name == "hosts_of_two" || network.name == "hosts_in_turn") {
      kinds.push_back(message_passing_kind(network));
    }
  }
  return kinds;
}
INSTANTIATE_TEST_SUITE_P(Kinds, Copies, ::testing::ValuesIn(kinds_with_copies()),
                         [](const ::testing::TestParamInfo<Kind>& kind) { return kind.param.name; });

// One rank with its copies. Ranks that share no memory have arenas of their own.
struct Holder {
  explicit Holder(Seat& own) : seat(own) {
    if (seat.arena == nullptr) own_arena = value_or_throw(Arena::create(std::size_t{16} << 20));
    copies.emplace(seat.arena != nullptr ? *seat.arena : *own_arena);
  }

  Status keep(const RandomState& state, std::int64_t version, std::uint64_t layout) {
    KeptState mine(state, static_cast<std::size_t>(group->size()), static_cast<std::size_t>(group->rank()),
                   layout);
    mine.become(version);
    return copies->keep(version, mine.pieces());
  }
  // Moves the last version into a layout of the present group, and compares it.
  Status restore(const RandomState& state, std::int64_t version, std::size_t world_that_kept,
                 std::uint64_t layout) {
    COHORT_ASSIGN_OR_RETURN(const auto kept, copies->last());
    if (kept.version != version) return unexpected(seat, "version {} instead of {}", kept.version, version);
    const KeptState mine(state, static_cast<std::size_t>(group->size()),
                         static_cast<std::size_t>(group->rank()), layout);
    COHORT_RETURN_IF_ERROR(state::move(mine.pieces(), *kept.source));
    const auto wrong = mine.differs_from(version, world_that_kept);
    return wrong ? Status(unexpected(seat, "version {}: {}", version, *wrong)) : Status();
  }
  // The group of those that stay; the others get null.
  Status leave_out(bool is_lost) {
    COHORT_ASSIGN_OR_RETURN(own_group,
                            group->split(is_lost ? std::nullopt : std::optional(0), 0, "survivors"));
    group = own_group.get();
    return {};
  }

  Seat& seat;
  std::unique_ptr<Arena> own_arena{};
  std::unique_ptr<Communicator> own_group{};
  Communicator* group = &*seat;
  std::optional<NeighbourCopies> copies{};
};

// Each rank in turn is lost, after versions in layouts that change in between.
TEST_P(Copies, RestoreTheStateInAnyLayoutOnTheRanksThatAreLeft) {
  for (const int world : {2, 3, 4, 5}) {
    for (int lost = 0; lost < world; ++lost) {
      run(world, [&](Seat& seat) -> Status {
        const RandomState state(static_cast<std::uint64_t>(world * 10 + lost), 5);
        Holder own(seat);
        COHORT_RETURN_IF_ERROR(own.copies->join(*own.group));
        for (const std::int64_t version : {1, 2, 3, 4, 5}) {
          COHORT_RETURN_IF_ERROR(own.keep(state, version, version < 3 ? 1 : 2));
        }
        COHORT_RETURN_IF_ERROR(own.copies->settle());
        COHORT_RETURN_IF_ERROR(own.leave_out(seat.index() == lost));
        if (seat.index() == lost) return seat.rank.barrier();
        COHORT_RETURN_IF_ERROR(own.copies->join(*own.group));
        COHORT_RETURN_IF_ERROR(own.restore(state, 5, static_cast<std::size_t>(world), 7));
        // The ranks that are left keep on, in their own layouts.
        COHORT_RETURN_IF_ERROR(own.keep(state, 6, 3));
        COHORT_RETURN_IF_ERROR(own.copies->settle());
        COHORT_RETURN_IF_ERROR(own.restore(state, 6, static_cast<std::size_t>(world) - 1, 4));
        return seat.rank.barrier();
      });
    }
  }
}

// Nothing new was kept between two losses: the copies of the first group are still there.
TEST_P(Copies, OutliveASecondLossBeforeTheNextVersion) {
  run(5, [](Seat& seat) -> Status {
    const RandomState state(3, 5);
    Holder own(seat);
    COHORT_RETURN_IF_ERROR(own.copies->join(*own.group));
    COHORT_RETURN_IF_ERROR(own.keep(state, 1, 1));
    COHORT_RETURN_IF_ERROR(own.copies->settle());
    for (const int lost : {4, 0}) {
      COHORT_RETURN_IF_ERROR(own.leave_out(seat.index() == lost));
      if (seat.index() == lost) return seat.rank.barrier();
      COHORT_RETURN_IF_ERROR(own.copies->join(*own.group));
      if (lost == 0 && GetParam().name == "loopback") break;  // each rank is a host: two hosts are lost
      COHORT_RETURN_IF_ERROR(own.restore(state, 1, 5, 9));
    }
    return seat.rank.barrier();
  });
}

// A rank that has kept nothing takes part.
TEST_P(Copies, AreReadByNewRanks) {
  run(4, [](Seat& seat) -> Status {
    const RandomState state(8, 5);
    Holder own(seat);
    const bool is_new = seat.index() == 1;
    COHORT_ASSIGN_OR_RETURN(const auto first,
                            seat->split(is_new ? std::nullopt : std::optional(0), 0, "first"));
    if (!is_new) {
      own.group = first.get();
      COHORT_RETURN_IF_ERROR(own.copies->join(*first));
      COHORT_RETURN_IF_ERROR(own.keep(state, -3, 1));
      COHORT_RETURN_IF_ERROR(own.copies->settle());
    }
    own.group = &*seat;
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    return own.restore(state, -3, 3, 2);
  });
}

// Versions need not grow: after a step back the later copy counts.
TEST_P(Copies, TheLastVersionCountsWhateverItsNumber) {
  run(3, [](Seat& seat) -> Status {
    const RandomState state(5, 4);
    Holder own(seat);
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    for (const std::int64_t version : {7, 8, 2}) {
      COHORT_RETURN_IF_ERROR(own.keep(state, version, 1));
      COHORT_RETURN_IF_ERROR(own.copies->settle());
      COHORT_RETURN_IF_ERROR(own.restore(state, version, 3, 2));
    }
    return {};
  });
}

// One rank alone has a piece more.
TEST_P(Copies, NoticeALayoutThatChangesOnOneRank) {
  run(3, [](Seat& seat) -> Status {
    Holder own(seat);
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    const bool is_changed = seat.index() == 1;
    for (const std::size_t count : {3u, 5u}) {
      std::vector<float> numbers(is_changed ? count : 3, static_cast<float>(seat.index()));
      const std::string name = "of rank " + std::to_string(seat.index());
      const Piece mine{.name = name,
                       .shape = {numbers.size()},
                       .mine = whole({numbers.size()}),
                       .bytes = std::as_writable_bytes(std::span(numbers))};
      COHORT_RETURN_IF_ERROR(own.copies->keep(static_cast<std::int64_t>(count), std::vector{mine}));
    }
    COHORT_RETURN_IF_ERROR(own.copies->settle());
    COHORT_ASSIGN_OR_RETURN(const auto kept, own.copies->last());
    std::vector<float> read(5);
    const Piece wanted{.name = "of rank 1",
                       .shape = {5},
                       .mine = whole({5}),
                       .bytes = std::as_writable_bytes(std::span(read))};
    COHORT_RETURN_IF_ERROR(state::move(std::vector{wanted}, *kept.source));
    return read == std::vector<float>(5, 1) ? Status() : unexpected(seat, "got {}", read[4]);
  });
}

// The first version of a second group does not fit into the arena of one rank.
TEST_P(Copies, StayWhenTheNextVersionFails) {
  run(3, [](Seat& seat) -> Status {
    const RandomState state(6, 60);  // some pages, as in leaving_test.cpp
    Holder own(seat);
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    COHORT_RETURN_IF_ERROR(own.keep(state, 0, 2));
    COHORT_RETURN_IF_ERROR(own.keep(state, 1, 1));
    COHORT_RETURN_IF_ERROR(own.copies->settle());
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    const Shape huge = {std::size_t{1} << 40};
    std::vector<Piece> mine;
    if (seat.index() == 1) mine = {{.name = "huge", .shape = huge, .mine = whole(huge)}};
    const Status kept = own.copies->keep(2, mine);
    if (kept) return unexpected(seat, "kept");
    const bool is_full = kept.error().code() == ErrorCode::kExhausted;  // of a keeper, too
    const bool is_told = kept.error().code() == ErrorCode::kAborted && kept.error().rank() == 1;
    if (seat.index() == 1 ? !is_full : !is_full && !is_told) return kept.error();
    COHORT_RETURN_IF_ERROR(own.restore(state, 1, 3, 2));
    COHORT_RETURN_IF_ERROR(own.keep(state, 3, 2));
    COHORT_RETURN_IF_ERROR(own.copies->settle());
    return own.restore(state, 3, 3, 1);
  });
}

TEST_P(Copies, TakeNoMoreMemoryWhenTheLayoutChanges) {
  run(2, [](Seat& seat) -> Status {
    const RandomState state(11, 5);
    Holder own(seat);
    Arena& arena = seat.arena != nullptr ? *seat.arena : *own.own_arena;
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    std::size_t before = 0;
    for (std::int64_t version = 0; version < 12; ++version) {
      COHORT_RETURN_IF_ERROR(own.keep(state, version, version / 3 % 2 == 0 ? 1 : 2));
      if (version == 6) before = arena.allocated_bytes();
    }
    COHORT_RETURN_IF_ERROR(own.keep(state, 12, 1));
    if (arena.allocated_bytes() > before) return unexpected(seat, "{} bytes", arena.allocated_bytes());
    COHORT_RETURN_IF_ERROR(own.copies->settle());
    own.copies->give_back();
    return {};
  });
}

TEST_P(Copies, SayThatNothingWasKept) {
  run(2, [](Seat& seat) -> Status {
    Holder own(seat);
    const Status kept = own.copies->keep(1, {});
    if (kept || kept.error().code() != ErrorCode::kUsage) return unexpected(seat, "kept without a group");
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    const auto last = own.copies->last();
    if (last) return unexpected(seat, "version {}", last->version);
    if (last.error().code() != ErrorCode::kNotFound) return last.error();
    return last.error().message().find("none was kept") != std::string::npos ? Status() : last.error();
  });
}

// Two of the eight elements of a vector, on each of four ranks.
struct Quarter {
  Quarter(int rank, float number) : numbers(2, number) {
    pieces = {{.name = "weight",
               .shape = {8},
               .mine = flat_range({8}, 2 * static_cast<std::size_t>(rank), 2),
               .bytes = std::as_writable_bytes(std::span(numbers))}};
  }

  std::vector<float> numbers;
  std::vector<Piece> pieces;
};

// The kind decides which ranks share a host.
void run_on(const std::string& name, int world, const SeatBody& body) {
  for (const Kind& kind : kinds_with_copies()) {
    if (kind.name != name) continue;
    EXPECT_WORLD_OK(kind.run(world, body, {}));
  }
}

// Ranks 0 and 1 are lost with their host, and the keeper of rank 0, before it has sealed version 2.
TEST(CopiesOnHosts, AreCompleteOnceTheNextVersionIsKept) {
  run_on("hosts_of_two", 4, [](Seat& seat) -> Status {
    Holder own(seat);
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    for (const int version : {1, 2}) {
      const Quarter mine(seat.index(), static_cast<float>(version));
      COHORT_RETURN_IF_ERROR(own.copies->keep(version, mine.pieces));
    }
    COHORT_RETURN_IF_ERROR(own.leave_out(seat.index() != 3));
    if (seat.index() != 3) return seat.rank.barrier();
    COHORT_RETURN_IF_ERROR(own.copies->join(*own.group));
    COHORT_ASSIGN_OR_RETURN(const auto kept, own.copies->last());
    std::vector<float> all(8);
    const Piece wanted{
        .name = "weight", .shape = {8}, .mine = whole({8}), .bytes = std::as_writable_bytes(std::span(all))};
    COHORT_RETURN_IF_ERROR(state::move(std::vector{wanted}, *kept.source));
    if (kept.version != 1 || all != std::vector<float>(8, 1))
      return unexpected(seat, "version {}", kept.version);
    return seat.rank.barrier();
  });
}

// Both ranks that hold a part are lost: every survivor says what is missing, also one that is new.
TEST(CopiesOnHosts, SayWhatIsMissing) {
  run_on("loopback", 4, [](Seat& seat) -> Status {
    Holder own(seat);
    COHORT_RETURN_IF_ERROR(own.copies->join(*seat));
    COHORT_RETURN_IF_ERROR(own.copies->keep(12, Quarter(seat.index(), 12).pieces));
    COHORT_RETURN_IF_ERROR(own.copies->settle());
    const bool is_lost = seat.index() == 1 || seat.index() == 2;
    COHORT_RETURN_IF_ERROR(own.leave_out(is_lost));
    if (is_lost) return seat.rank.barrier();
    COHORT_RETURN_IF_ERROR(own.copies->join(*own.group));
    const auto last = own.copies->last();
    if (last) return unexpected(seat, "version {}", last->version);
    const std::string expected =
        "no version of the state is complete in the memory of the 2 ranks that are left: version 12 lacks 1 "
        "of 4 parts, "
        "'weight' (elements 2 … 3 of [0…8)) first: the ranks that kept them are lost";
    if (last.error().message() != expected) return last.error();
    return seat.rank.barrier();
  });
}

}  // namespace
}  // namespace cohort::test
