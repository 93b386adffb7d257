#include "comm/shared_memory/processes/ranks.h"

#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <random>
#include <thread>
#include <unistd.h>

// Tasks of a rank, run once it has connected to the others. The outcome of its call is printed as `code=…`,
// `ended=…` (the time) and the text of the error.

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using Task = std::function<Status(const RoleCall&, Arena&, std::unique_ptr<Communicator>&)>;

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// Prints the outcome of an operation and the time.
Status report(const Status& outcome) {
  const std::int64_t ended = now_ns();
  if (outcome)
    say(fmt::format("code=-1 ended={}", ended));
  else
    say(fmt::format("code={} ended={} {}", static_cast<int>(outcome.error().code()), ended,
                    outcome.error().text()));
  return {};
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

/// The last rank prints `ready` and hangs; the others make the call, which must fail.
Task while_the_last_hangs(const std::function<Status(Communicator&)>& call) {
  return [call](const RoleCall& role, Arena&, std::unique_ptr<Communicator>& group) -> Status {
    COHORT_RETURN_IF_ERROR(group->run(barrier()));
    if (role.rank == role.world - 1) {
      say("ready");
      hang();
    }
    say("ready");
    return report(call(*group));
  };
}

Status run_all_reduce(Communicator& group) {
  std::vector<float> numbers(100'003, 1.0F);
  return group.run(all_reduce(std::span(numbers)));
}

Status start_all_reduce(Communicator& group) {
  std::vector<float> numbers(100'003, 1.0F);
  return group.start(all_reduce(std::span(numbers))).wait();
}

Status receive_from_last(Communicator& group) {
  std::vector<float> numbers(100'003, 1.0F);
  return group.run(recv(std::span(numbers), group.size() - 1));
}

/// Sends more bytes than a ring holds, to a rank that does not read.
Status send_to_last(Communicator& group) {
  std::vector<float> numbers(1'000'003, 1.0F);
  return group.run(send(std::span<const float>(numbers), group.size() - 1));
}

/// A sub-group of the same ranks in reverse order: the last rank becomes the first.
Status sub_group_call(const RoleCall& role, Arena&, std::unique_ptr<Communicator>& group) {
  COHORT_ASSIGN_OR_RETURN(const auto part, group->split(0, -role.rank, "part"));
  if (role.rank == role.world - 1) {
    say("ready");
    hang();
  }
  say("ready");
  std::vector<float> numbers(3001, 1.0F);
  return report(part->run(all_reduce(std::span(numbers))));
}

/// A group without the last rank goes on when that rank ends, and so does a group that is made of it
/// afterwards.
Status go_on_without_the_last(const RoleCall& role, Arena&, std::unique_ptr<Communicator>& group) {
  const bool is_last = role.rank == role.world - 1;
  COHORT_ASSIGN_OR_RETURN(const auto part,
                          group->split(is_last ? std::nullopt : std::optional<int>(0), role.rank, "part"));
  say("ready");
  if (is_last) hang();
  const Status whole = run_all_reduce(*group);  // ends when the last rank does
  if (whole) return Error(ErrorCode::kBug, "the group of all ranks did not notice the loss");
  const Status first = run_all_reduce(*part);
  if (!first) return report(first);
  COHORT_ASSIGN_OR_RETURN(const auto later, part->split(0, role.rank, "later"));
  return report(run_all_reduce(*later));
}

Status hammer(Communicator& group, std::uint64_t seed, int rounds) {
  std::mt19937_64 random(seed);  // the same on all ranks
  const auto world = static_cast<std::size_t>(group.size());
  for (int round = 0; round < rounds; ++round) {
    const std::size_t count = random() % 3 == 0 ? random() % 20'000 : random() % 200;
    const int root = static_cast<int>(random() % world);
    const auto value = [round](std::size_t rank) {
      return static_cast<std::int64_t>(rank + 1) * (round + 1);
    };
    const auto mine = value(static_cast<std::size_t>(group.rank()));
    std::vector<std::int64_t> numbers(count, mine);
    std::vector<std::int64_t> whole(count * world);
    std::int64_t expected = 0;
    bool right = true;
    switch (random() % 4) {
      case 0:
        COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(numbers))));
        for (std::size_t rank = 0; rank < world; ++rank) expected += value(rank);
        for (const std::int64_t number : numbers) right = right && number == expected;
        break;
      case 1:
        COHORT_RETURN_IF_ERROR(group.run(broadcast(std::span(numbers), root)));
        for (const std::int64_t number : numbers)
          right = right && number == value(static_cast<std::size_t>(root));
        break;
      case 2:
        COHORT_RETURN_IF_ERROR(
            group.run(all_gather(std::span<const std::int64_t>(numbers), std::span(whole))));
        for (std::size_t i = 0; i < whole.size(); ++i) right = right && whole[i] == value(i / count);
        break;
      default:
        COHORT_RETURN_IF_ERROR(group.start(barrier()).wait());
    }
    if (!right)
      return Error(ErrorCode::kBug, fmt::format("round {} of {} elements came out wrong", round, count));
  }
  return {};
}

Status endless_hammer(const RoleCall& role, Arena& arena, std::unique_ptr<Communicator>& group) {
  (void)role;
  // A block in the arena, so that a leak would be noticed.
  const ArenaBlock block = value_or_throw(arena.allocate(std::size_t{1} << 20));
  const Numbers numbers(block.as<float>().data(), block.as<float>().size(), DType::kF32);
  for (std::uint64_t round = 0;; ++round) {
    Status outcome = hammer(*group, round, 10);
    if (outcome) outcome = group->run(all_reduce(numbers, ReduceOp::kMax));
    if (!outcome) return report(outcome);
  }
}

/// A number of rounds that makes about the same work for all worlds.
Status mixed_collectives(const RoleCall& role, Arena&, std::unique_ptr<Communicator>& group) {
  return report(hammer(*group, 7, 8000 / (role.world * role.world) * 4));
}

/// The last rank sleeps for twice the liveness limit; no rank may report it as lost.
Status wait_for_a_slow_one(const RoleCall& role, Arena&, std::unique_ptr<Communicator>& group) {
  COHORT_RETURN_IF_ERROR(group->run(barrier()));
  const auto limit = std::chrono::milliseconds(std::stoi(role.args.at(1)));
  if (role.rank == role.world - 1) std::this_thread::sleep_for(2 * limit);  // the delay is what is tested
  return report(run_all_reduce(*group));
}

Status miss_a_deadline(const RoleCall& role, Arena&, std::unique_ptr<Communicator>& group) {
  COHORT_RETURN_IF_ERROR(group->run(barrier()));
  if (role.rank == role.world - 1) {
    say("ready");
    hang();
  }
  std::vector<double> numbers(5);
  return report(group->run(all_reduce(std::span(numbers)).within(50ms)));
}

Status call_something_else(const RoleCall& role, Arena&, std::unique_ptr<Communicator>& group) {
  std::vector<float> numbers(12);
  std::vector<std::int32_t> integers(12);
  const bool last = role.rank == role.world - 1;
  const std::string& what = role.args.at(4);
  Call call = all_reduce(std::span(numbers));
  if (last && what == "operation") call = barrier();
  if (last && what == "size") call = all_reduce(std::span(numbers).first(11));
  if (last && what == "dtype") call = all_reduce(std::span(integers));
  return report(group->run(call));
}

Status abort_from_another_thread(const RoleCall& role, Arena&, std::unique_ptr<Communicator>& group) {
  COHORT_RETURN_IF_ERROR(group->run(barrier()));
  if (role.rank == role.world - 1) {
    std::jthread other([&] { group->abort(Error(ErrorCode::kExhausted, "the disk is full")); });
    return report(group->run(recv(Numbers(), 0)));
  }
  return report(run_all_reduce(*group));
}

std::unique_ptr<Communicator> meet_again(const RoleCall& role, Arena& arena, int rank, int world) {
  return value_or_throw(SharedMemoryCommunicator::meet(
      arena, {.rendezvous = role.args.at(0), .facts = {.rank = rank, .world = world, .generation = 1}}));
}

/// The last rank stops itself during a call. The others lose it, continue without it in a new generation with
/// the same arena, and use the arena.
Status go_on_without_the_frozen(const RoleCall& role, Arena& arena, std::unique_ptr<Communicator>& group) {
  constexpr std::size_t kCount = 300'007;
  ArenaBlock block = value_or_throw(arena.allocate(kCount * sizeof(float)));
  const Numbers numbers(block.bytes().data(), kCount, DType::kF32);
  COHORT_RETURN_IF_ERROR(group->run(all_reduce(numbers)));
  if (role.rank == role.world - 1) {
    say("frozen");
    ::raise(SIGSTOP);
    // If woken, this rank would write to the arena now.
    (void)group->run(all_reduce(numbers));
    hang();
  }
  COHORT_RETURN_IF_ERROR(report(group->run(all_reduce(numbers))));
  group.reset();
  group = meet_again(role, arena, role.rank, role.world - 1);
  say(fmt::format("met={}", now_ns()));
  COHORT_RETURN_IF_ERROR(hammer(*group, 3, 100));
  std::fill_n(block.as<float>().begin(), kCount, 1.0F);
  COHORT_RETURN_IF_ERROR(group->run(all_reduce(numbers)));
  for (std::size_t i = 0; i < kCount; ++i) {
    if (block.as<float>()[i] != static_cast<float>(role.world - 1))
      return Error(ErrorCode::kBug, "a wrong sum");
  }
  say("went on");
  return {};
}

const std::map<std::string, Task>& tasks() {
  static const std::map<std::string, Task> all = {
      {"all_reduce", while_the_last_hangs(run_all_reduce)},
      {"work", while_the_last_hangs(start_all_reduce)},
      {"receive", while_the_last_hangs(receive_from_last)},
      {"send", while_the_last_hangs(send_to_last)},
      {"sub_group", sub_group_call},
      {"without_the_last", go_on_without_the_last},
      {"hammer", endless_hammer},
      {"mixed", mixed_collectives},
      {"slow", wait_for_a_slow_one},
      {"deadline", miss_a_deadline},
      {"mismatch", call_something_else},
      {"abort", abort_from_another_thread},
      {"fence", go_on_without_the_frozen},
  };
  return all;
}

Status meet_and_work(const RoleCall& call) {
  const std::string& what = call.args.at(3);
  COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> arena, Arena::create());
  COHORT_ASSIGN_OR_RETURN(
      std::unique_ptr<Communicator> group,
      SharedMemoryCommunicator::meet(
          *arena, {.rendezvous = call.args.at(0),
                   .facts = {.rank = call.rank, .world = call.world, .limit = 20s},
                   .liveness = std::chrono::milliseconds(std::stoi(call.args.at(1))),
                   .meeting_limit = std::chrono::milliseconds(std::stoi(call.args.at(2)))}));
  return tasks().at(what)(call, *arena, group);
}

int run_rank(const RoleCall& call) {
  const Status outcome = meet_and_work(call);
  if (outcome) return 0;
  say(fmt::format("failed with code={} {}", static_cast<int>(outcome.error().code()),
                  outcome.error().text()));
  return 1;
}

}  // namespace

Roles shared_memory_roles() {
  return {{"rank", run_rank}};
}

}  // namespace cohort::test

int main(int argc, char** argv) {
  return cohort::test::run_tests_or_role(argc, argv, cohort::test::shared_memory_roles());
}
