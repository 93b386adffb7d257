#include "reduce/reducing.h"

#include "comm/conformance/message_passing_kind.h"
#include "comm/conformance/shared_memory_kind.h"
#include "comm/shared_memory/arena_resource.h"

#include <stdexcept>

namespace cohort::test {

Kind kind_named(const std::string& name) {
  if (name == "shared_memory") return shared_memory_kind(name, InArena::kEverybodys);
  if (name == "hosts_crosswise") {
    return message_passing_kind(
        {name, [](int n) { return joined_network(hosts_crosswise(n), net::Secrecy::kClear); }});
  }
  for (const NetworkKind& network : network_kinds()) {
    if (network.name == name) return message_passing_kind(network);
  }
  throw std::invalid_argument("no communicators are named " + name);
}

void PrintTo(const ReducerCase& one, std::ostream* out) {
  *out << one.name();
}

std::vector<ReducerCase> reducer_cases() {
  std::vector<ReducerCase> cases;
  for (const ReducerKind& reducer : reducer_kinds()) {
    for (const char* name :
         {"shared_memory", "loopback", "hosts_of_two", "hosts_in_turn", "hosts_crosswise"}) {
      cases.push_back({.kind = kind_named(name), .reducer = reducer});
    }
  }
  return cases;
}

void EveryReducer::run(int world, const SeatBody& body) {
  const WorldOutcome outcome = GetParam().kind.run(world, body, {});
  EXPECT_TRUE(outcome.ok()) << "world of " << world << ": " << outcome.text();
}

float gradient_of(int rank, int lane, std::size_t index) {
  return static_cast<float>((rank + 1) * static_cast<int>(index % 11) - 7 * rank + 100 * lane);
}

float sum_of_gradients(int world, int lane, std::size_t index) {
  float sum = 0;
  for (int rank = 0; rank < world; ++rank) sum += gradient_of(rank, lane, index);
  return sum;
}

Gradients::Gradients(const Seat& seat, int lane, std::size_t count)
    : rank_(seat->rank()),
      lane_(lane),
      in_arena_(seat.arena != nullptr && !seat->traits().zero_copy
                    ? std::make_unique<ArenaResource>(*seat.arena)
                    : nullptr),
      numbers_(count, in_arena_ != nullptr ? in_arena_.get() : seat.memory) {
  for (std::size_t i = 0; i < count; ++i) numbers_[i] = gradient_of(rank_, lane_, i);
}

bool Gradients::are_untouched() const {
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    if (numbers_[i] != gradient_of(rank_, lane_, i)) return false;
  }
  return true;
}

}  // namespace cohort::test
