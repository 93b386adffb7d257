// One rank of a job on several hosts, started by rails_test.py: `rails_rank RAILS COUNT ROUNDS` runs ROUNDS
// all-reduces of COUNT numbers, each checked, and prints their bandwidth.

#include "base/result.h"
#include "comm/group/call.h"
#include "launch/variable_reader.h"
#include "world/hosts_world.h"
#include "world/open_meeting.h"

#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::test {
namespace {

Status check_sum(Communicator& group, std::vector<float>& numbers) {
  const auto value = [](int rank, std::size_t i) {
    return static_cast<float>((i * 7 + static_cast<std::size_t>(rank * 3)) % 61);
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = value(group.rank(), i);
  COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(numbers))));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    float expected = 0;
    for (int rank = 0; rank < group.size(); ++rank) expected += value(rank, i);
    if (numbers[i] != expected) return Error(ErrorCode::kCorrupt, fmt::format("number {} is wrong", i));
  }
  return {};
}

Status run(std::optional<int> rails, std::size_t count, int rounds) {
  COHORT_ASSIGN_OR_RETURN(const LaunchFacts facts, launch_facts(own_environment()));
  COHORT_ASSIGN_OR_RETURN(const auto arena, Arena::create(std::size_t{256} << 20));
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key, world::job_key(facts));
  COHORT_ASSIGN_OR_RETURN(const auto meeting, world::open_meeting(facts, key));
  world::HostsWorld world(*meeting, *arena, key,
                          {.rank = facts.rank, .world = facts.world, .links = {.sockets = rails}});
  COHORT_ASSIGN_OR_RETURN(const auto group, world.form(0));
  COHORT_RETURN_IF_ERROR(group->run(barrier()));  // measure from the start of the last rank
  std::vector<float> numbers(count);
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) COHORT_RETURN_IF_ERROR(check_sum(*group, numbers));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const double megabits = 8e-6 * sizeof(float) * static_cast<double>(count) * rounds / passed.count();
  std::cout << fmt::format("{} rounds are right, {:.0f} Mbit/s with {} rails\n", rounds, megabits,
                           rails ? std::to_string(*rails) : "auto");
  return group->run(barrier());
}

}  // namespace
}  // namespace cohort::test

// RAILS is a number, or auto.
int main(int argc, char** argv) {
  const auto rails = [&]() -> std::optional<int> {
    return std::string_view(argv[1]) == "auto" ? std::nullopt : std::optional(std::atoi(argv[1]));
  };
  const cohort::Status status =
      argc == 4 ? cohort::test::run(rails(), std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]))
                : cohort::Error(cohort::ErrorCode::kUsage, "rails_rank RAILS COUNT ROUNDS");
  if (status) return 0;
  std::cout << name(status.error().code()) << ": " << status.error().text() << std::endl;
  return 3;
}
