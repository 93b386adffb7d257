// One rank of a job on several hosts, started by the tests: host_rank MODE [NUMBER...].
//
//   sum COUNT ROUNDS [PAUSE_MS]   ROUNDS all-reduces of COUNT numbers, each checked
//   die RANK COUNT                endless all-reduces; RANK kills itself after the third
//   renew TIMES                   forms the group TIMES times and prints the longest duration

#include "base/result.h"
#include "comm/group/call.h"
#include "launch/variable_reader.h"
#include "world/hosts_world.h"
#include "world/membership.h"
#include "world/open_meeting.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

Status check_sum(Communicator& group, std::size_t count, int round) {
  const auto value = [round](int rank, std::size_t i) {
    return static_cast<float>((i * 7 + static_cast<std::size_t>(rank * 3 + round)) % 61);
  };
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = value(group.rank(), i);
  COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(numbers))));
  for (std::size_t i = 0; i < count; ++i) {
    float expected = 0;
    for (int rank = 0; rank < group.size(); ++rank) expected += value(rank, i);
    if (numbers[i] != expected) {
      return Error(ErrorCode::kCorrupt, fmt::format("round {}: number {} is wrong", round, i));
    }
  }
  return {};
}

Status sum(Communicator& group, std::size_t count, int rounds, std::chrono::milliseconds pause) {
  for (int round = 0; round < rounds; ++round) {
    COHORT_RETURN_IF_ERROR(check_sum(group, count, round));
    if (round == 0) std::cout << "going\n" << std::flush;
    std::this_thread::sleep_for(pause);
  }
  std::cout << fmt::format("{} rounds are right, by {}\n", rounds, group.traits().kind) << std::flush;
  return group.run(barrier());
}

Status die(Communicator& group, int who, std::size_t count) {
  for (int round = 0;; ++round) {
    if (group.rank() == who && round == 3) ::raise(SIGKILL);
    COHORT_RETURN_IF_ERROR(check_sum(group, count, round));
  }
}

Status renew(const LaunchFacts& facts, Arena& arena, int times) {
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key, world::job_key(facts));
  COHORT_ASSIGN_OR_RETURN(const auto meeting, world::open_meeting(facts, key));
  world::HostsWorld world(*meeting, arena, key, {.rank = facts.rank, .world = facts.world});
  std::chrono::duration<double, std::milli> longest{};
  for (int generation = 0; generation < times; ++generation) {
    const auto begin = std::chrono::steady_clock::now();
    COHORT_ASSIGN_OR_RETURN(const auto group, world.form(static_cast<std::uint32_t>(generation)));
    COHORT_RETURN_IF_ERROR(check_sum(*group, 1000, generation));
    COHORT_RETURN_IF_ERROR(group->run(barrier()));
    if (generation > 0)
      longest = std::max<decltype(longest)>(longest, std::chrono::steady_clock::now() - begin);
  }
  std::cout << fmt::format("{} generations, the longest took {:.1f} ms\n", times, longest.count());
  return {};
}

Status run(const std::vector<std::string>& words) {
  COHORT_ASSIGN_OR_RETURN(const LaunchFacts facts, launch_facts(own_environment()));
  COHORT_ASSIGN_OR_RETURN(const auto arena, Arena::create(std::size_t{256} << 20));
  const auto number = [&](std::size_t i, int otherwise) {
    return words.size() > i ? std::atoi(words[i].c_str()) : otherwise;
  };
  if (words[0] == "renew") return renew(facts, *arena, number(1, 3));
  std::cout << fmt::format("pid {}\n", ::getpid()) << std::flush;
  COHORT_ASSIGN_OR_RETURN(const auto membership,
                          world::Membership::join(facts, *arena, {.link_limit = 3s, .meeting_limit = 10s}));
  const auto group = membership->take_groups().own;
  if (facts.rank == 0) std::cout << membership->explanation() << std::flush;
  const auto count = static_cast<std::size_t>(number(words[0] == "die" ? 2 : 1, 1));
  if (words[0] == "die") return die(*group, number(1, 0), count);
  return sum(*group, count, number(2, 1), std::chrono::milliseconds(number(3, 0)));
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const cohort::Status status =
      words.empty() ? cohort::Error(cohort::ErrorCode::kUsage, "no mode") : cohort::test::run(words);
  if (status) return 0;
  std::cout << name(status.error().code()) << ": " << status.error().text() << std::endl;
  return 3;
}
