#include "comm/conformance/trial.h"
#include "comm/group/mesh.h"
#include "comm/shared_memory/arena.h"

#include <cstring>
#include <thread>
#include <vector>

namespace cohort::test {
namespace {

class Groups : public Conformance {};

// Every rank of the group gives its rank in the world; all must see the same list, in the order of the group.
Status expect_members(const Seat& seat, Communicator& group, const std::vector<std::int32_t>& world_ranks) {
  const std::int32_t mine = seat->rank();
  std::vector<std::int32_t> all(static_cast<std::size_t>(group.size()), -1);
  COHORT_RETURN_IF_ERROR(group.run(all_gather(std::span(&mine, 1), std::span(all))));
  if (all != world_ranks) return unexpected(seat, "group '{}' has other members", group.group_name());
  return {};
}

TEST_P(Groups, AreSplitByColour) {
  for (const int world : kWorlds) {
    run(world, [](Seat& seat) -> Status {
      const int colour = seat->rank() % 3;
      COHORT_ASSIGN_OR_RETURN(const auto group, seat->split(colour, 0, "thirds"));
      std::vector<std::int32_t> expected;
      for (int r = colour; r < seat.size(); r += 3) expected.push_back(r);
      if (group->rank() != seat->rank() / 3)
        return unexpected(seat, "unexpected rank {} in the group", group->rank());
      if (group->group_name() != "world/thirds") return unexpected(seat, "name {}", group->group_name());
      COHORT_RETURN_IF_ERROR(expect_members(seat, *group, expected));
      return seat->run(barrier());
    });
  }
}

TEST_P(Groups, AreOrderedByKeyThenRank) {
  run(5, [](Seat& seat) -> Status {
    const int key = seat->rank() == 0 ? 7 : -(seat->rank() / 2);  // 7, 0, -1, -1, -2
    COHORT_ASSIGN_OR_RETURN(const auto group, seat->split(4, key, "turned"));
    COHORT_RETURN_IF_ERROR(expect_members(seat, *group, {4, 2, 3, 1, 0}));
    return seat->run(barrier());
  });
}

TEST_P(Groups, WithoutAColourARankGetsNoGroup) {
  for (const int world : {1, 2, 5}) {
    run(world, [](Seat& seat) -> Status {
      const bool is_in = seat->rank() % 2 == 1;
      COHORT_ASSIGN_OR_RETURN(const auto group,
                              seat->split(is_in ? std::optional(0) : std::nullopt, 0, "odd"));
      if (is_in != (group != nullptr))
        return unexpected(seat, "{} a group, expected the opposite", group ? "got" : "did not get");
      if (group) COHORT_RETURN_IF_ERROR(group->run(barrier()));
      return seat->run(barrier());
    });
  }
}

TEST_P(Groups, AreSplitAgain) {
  run(8, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto half, seat->split(seat->rank() / 4, 0, "half"));
    COHORT_ASSIGN_OR_RETURN(const auto quarter, half->split(half->rank() / 2, -half->rank(), "quarter"));
    const int first = seat->rank() / 2 * 2;
    COHORT_RETURN_IF_ERROR(expect_members(seat, *quarter, {first + 1, first}));
    COHORT_RETURN_IF_ERROR(expect_members(seat, *half,
                                          {seat->rank() / 4 * 4, seat->rank() / 4 * 4 + 1,
                                           seat->rank() / 4 * 4 + 2, seat->rank() / 4 * 4 + 3}));
    if (quarter->group_name() != "world/half/quarter") return unexpected(seat, "{}", quarter->group_name());
    return seat->run(barrier());
  });
}

Status run_many(Seat& seat, Communicator& group, int seed) {
  for (int round = 0; round < 25; ++round) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(1 + (round * 131 + seed) % 700),
                                      group.rank() + round);
    COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(numbers))));
    const std::int64_t expected = group.size() * (group.size() - 1) / 2 + std::int64_t{group.size()} * round;
    for (const std::int64_t number : numbers) {
      if (number != expected)
        return unexpected(seat, "{} in round {} of '{}'", number, round, group.group_name());
    }
  }
  return {};
}

TEST_P(Groups, WorkAtTheSameTimeFromSeveralThreads) {
  run(4, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto row, seat->split(seat->rank() / 2, 0, "row"));
    COHORT_ASSIGN_OR_RETURN(const auto column, seat->split(seat->rank() % 2, 0, "column"));
    COHORT_ASSIGN_OR_RETURN(const auto copy, seat->split(0, 0, "copy"));
    Status outcomes[3];
    std::thread rows([&] { outcomes[0] = run_many(seat, *row, 3); });
    std::thread columns([&] { outcomes[1] = run_many(seat, *column, 5); });
    std::thread copies([&] { outcomes[2] = run_many(seat, *copy, 7); });
    const Status own = run_many(seat, *seat, 11);
    rows.join();
    columns.join();
    copies.join();
    for (const Status& outcome : outcomes) COHORT_RETURN_IF_ERROR(outcome);
    COHORT_RETURN_IF_ERROR(own);
    return seat->run(barrier());
  });
}

TEST_P(Groups, MayBeSplitAtTheSameTimeFromSeveralThreads) {
  run(4, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto row, seat->split(seat->rank() / 2, 0, "row"));
    COHORT_ASSIGN_OR_RETURN(const auto column, seat->split(seat->rank() % 2, 0, "column"));
    const auto split_and_use = [&](Communicator& group) -> Status {
      for (int round = 0; round < 5; ++round) {
        COHORT_ASSIGN_OR_RETURN(const auto copy, group.split(0, 0, "copy"));
        COHORT_RETURN_IF_ERROR(run_many(seat, *copy, round));
      }
      return {};
    };
    Status of_row;
    std::thread rows([&] { of_row = split_and_use(*row); });
    const Status of_column = split_and_use(*column);
    rows.join();
    COHORT_RETURN_IF_ERROR(of_row);
    COHORT_RETURN_IF_ERROR(of_column);
    return seat->run(barrier());
  });
}

TEST_P(Groups, AMeshHasAGroupForEveryAxis) {
  run(8, [](Seat& seat) -> Status {
    const Mesh mesh({2, 1, 4});
    COHORT_ASSIGN_OR_RETURN(const auto outer, split_axes(*seat, mesh, {0}, "outer"));
    COHORT_ASSIGN_OR_RETURN(const auto middle, split_axes(*seat, mesh, {1}, "middle"));
    COHORT_ASSIGN_OR_RETURN(const auto inner, split_axes(*seat, mesh, {2}, "inner"));
    COHORT_ASSIGN_OR_RETURN(const auto both, split_axes(*seat, mesh, {0, 2}, "both"));
    const int row = seat->rank() / 4;
    const int column = seat->rank() % 4;
    COHORT_RETURN_IF_ERROR(expect_members(seat, *outer, {column, column + 4}));
    COHORT_RETURN_IF_ERROR(expect_members(seat, *middle, {seat->rank()}));
    COHORT_RETURN_IF_ERROR(expect_members(seat, *inner, {row * 4, row * 4 + 1, row * 4 + 2, row * 4 + 3}));
    COHORT_RETURN_IF_ERROR(expect_members(seat, *both, {0, 1, 2, 3, 4, 5, 6, 7}));
    return seat->run(barrier());
  });
}

TEST_P(Groups, OutliveEachOther) {
  run(3, [](Seat& seat) -> Status {
    std::unique_ptr<Communicator> kept;
    for (int round = 0; round < 4; ++round) {
      COHORT_ASSIGN_OR_RETURN(auto group, seat->split(0, seat->rank(), "next"));
      COHORT_RETURN_IF_ERROR(run_many(seat, *group, round));
      kept = std::move(group);
      COHORT_RETURN_IF_ERROR(seat->run(barrier()));
    }
    return run_many(seat, *kept, 1);
  });
}

// The sum of a block in each rank's arena, which every other rank of the group reads in place.
Status expect_shared_memory(const Seat& seat, Communicator& near) {
  if (!near.traits().zero_copy) return unexpected(seat, "group '{}' passes messages", near.group_name());
  COHORT_ASSIGN_OR_RETURN(const ArenaBlock block, seat.arena->allocate(sizeof(float)));
  block.as<float>()[0] = static_cast<float>(seat->rank() + 1);
  COHORT_ASSIGN_OR_RETURN(const std::byte* seen, near.see(0, block.bytes()));
  if (seen == nullptr) return unexpected(seat, "memory of rank 0 is not seen");
  float sum = 0, expected = 0;
  std::memcpy(&sum, seen, sizeof sum);
  const float of_first = sum;
  COHORT_RETURN_IF_ERROR(near.run(barrier()));  // the block changes only when all have seen it
  COHORT_RETURN_IF_ERROR(near.run(all_reduce(block.as<float>().first(1))));
  const std::vector<int> hosts = seat->hosts();
  const int own = hosts[static_cast<std::size_t>(seat->rank())];
  float first = 0;
  for (std::size_t rank = hosts.size(); rank-- > 0;) {
    if (hosts[rank] != own) continue;
    first = static_cast<float>(rank + 1);
    expected += first;
  }
  if (of_first != first) return unexpected(seat, "saw {}, expected {}", of_first, first);
  if (block.as<float>()[0] != expected)
    return unexpected(seat, "{}, expected {}", block.as<float>()[0], expected);
  return near.run(barrier());
}

// Messages inside of the group and in the group of all ranks, at the same time and under the same tag.
Status expect_messages(const Seat& seat, Communicator& near) {
  const auto mine = static_cast<std::int32_t>(seat->rank());
  std::int32_t from_near = -1, from_far = -1;
  const int next = (near.rank() + 1) % near.size(), last = (near.rank() + near.size() - 1) % near.size();
  const int after = (seat->rank() + 1) % seat->size(),
            before = (seat->rank() + seat->size() - 1) % seat->size();
  std::vector<comm::Work> works;
  if (near.size() > 1) works.push_back(near.start(recv(std::span(&from_near, 1), last)));
  works.push_back(seat->start(recv(std::span(&from_far, 1), before)));
  works.push_back(seat->start(send(std::span(&mine, 1), after)));
  if (near.size() > 1) works.push_back(near.start(send(std::span(&mine, 1), next)));
  for (const comm::Work& work : works) COHORT_RETURN_IF_ERROR(work.wait());
  if (from_far != before) return unexpected(seat, "{} from all ranks, expected {}", from_far, before);
  if (near.size() == 1) return {};
  const auto hosts = seat->hosts();
  if (hosts[static_cast<std::size_t>(from_near)] != hosts[static_cast<std::size_t>(mine)]) {
    return unexpected(seat, "rank {} is on another host", from_near);
  }
  return {};
}

TEST_P(Groups, OfOneHostShareMemory) {
  const std::string& kind = GetParam().name;
  const bool is_expected = kind.starts_with("hosts_") ||
                           (kind.starts_with("shared_memory") && !kind.starts_with("shared_memory_rings"));
  for (const int world : {2, 4, 5}) {
    run(world, [is_expected](Seat& seat) -> Status {
      const std::vector<int> hosts = seat->hosts();
      if (hosts.empty() == is_expected) return unexpected(seat, "knows the hosts of {} ranks", hosts.size());
      if (hosts.empty()) return {};
      COHORT_ASSIGN_OR_RETURN(const auto near,
                              seat->split(hosts[static_cast<std::size_t>(seat->rank())], 0, "near"));
      COHORT_ASSIGN_OR_RETURN(const auto again, near->split(0, 0, "again"));
      for (Communicator* group : {near.get(), again.get()}) {
        if (group->size() > 1) COHORT_RETURN_IF_ERROR(expect_shared_memory(seat, *group));
        COHORT_RETURN_IF_ERROR(expect_messages(seat, *group));
      }
      return seat.rank.barrier();
    });
  }
}

COHORT_FOR_ALL_KINDS(Groups);

}  // namespace
}  // namespace cohort::test
