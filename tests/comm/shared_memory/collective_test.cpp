#include "comm/shared_memory/collective.h"
#include "world/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cohort::test {
namespace {

/// One rank of a group without a communicator: the test advances calls itself.
struct Hand {
  std::unique_ptr<Arena> arena;
  std::unique_ptr<comm::Neighbours> neighbours;
  comm::OwnBlocks own;
  std::optional<comm::GroupView> view;

  ~Hand() {
    view.reset();
    neighbours.reset();
  }

  Status meet(const RankContext& rank, const std::string& name) {
    COHORT_ASSIGN_OR_RETURN(arena, Arena::create());
    COHORT_ASSIGN_OR_RETURN(
        neighbours, comm::Neighbours::meet(
                        *arena, {.rendezvous = name, .facts = {.rank = rank.rank(), .world = rank.size()}}));
    COHORT_ASSIGN_OR_RETURN(own, comm::OwnBlocks::allocate(*arena, rank.size()));
    COHORT_ASSIGN_OR_RETURN(const auto offsets, neighbours->exchange_first_blocks(own.block.offset()));
    std::vector<int> members;
    for (int r = 0; r < rank.size(); ++r) members.push_back(r);
    COHORT_ASSIGN_OR_RETURN(
        comm::GroupView made,
        comm::GroupView::of(*neighbours, members, offsets, {.rank = rank.rank(), .world = rank.size()}));
    view.emplace(std::move(made));
    return {};
  }
};

// Rank 0 has done its part of a direct call and gives up because it waits too long; its caller then changes
// the buffer. A slower rank that reads the buffer now must not count the call as a success, although all
// others have done their part.
TEST(Collective, FailsOnAllMembersIfOneGivesUp) {
  const std::string name = fmt::format("cohort-hand-{}", ::getpid());
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    Hand hand;
    COHORT_RETURN_IF_ERROR(hand.meet(rank, name));
    constexpr std::size_t kCount = 4096;
    COHORT_ASSIGN_OR_RETURN(const ArenaBlock input, hand.arena->allocate(kCount * sizeof(float)));
    std::vector<float> output(3 * kCount);
    for (float& number : input.as<float>()) number = 5;
    const Call call = all_gather(std::span<const float>(input.as<float>().first(kCount)), std::span(output));
    comm::Collective collective(*hand.view, call, 1);

    if (rank.rank() != 1 && collective.advance()) return rank.failure("rank 1 has not called yet");
    COHORT_RETURN_IF_ERROR(rank.barrier());
    // Rank 1 posts by hand, so that the others go on; its own call is advanced below.
    if (rank.rank() == 1) {
      comm::Posting& posting = hand.own.block.as<comm::MemberBlock>()[0].postings[1];
      posting.count = kCount;
      posting.call = comm::pack(call, {.is_inline = false, .input_in_arena = true, .output_in_arena = false});
      posting.input = input.offset();
      posting.sequence.store(1);
    }
    COHORT_RETURN_IF_ERROR(rank.barrier());
    if (rank.rank() != 1 && collective.advance()) return rank.failure("rank 1 has not read yet");
    COHORT_RETURN_IF_ERROR(rank.barrier());
    if (rank.rank() == 0) {
      collective.give_up();
      for (float& number : input.as<float>()) number = 7;
    }
    COHORT_RETURN_IF_ERROR(rank.barrier());
    if (rank.rank() == 1) {
      for (int i = 0; i < 10; ++i) {
        if (collective.advance()) return rank.failure("the call ended, with {} in its output", output[0]);
      }
    }
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
