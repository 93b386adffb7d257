#include "comm/schedule/call_facts.h"

#include <numeric>

namespace cohort::comm {
namespace {

std::vector<std::size_t> equal_parts(int world, std::size_t count) {
  return std::vector<std::size_t>(static_cast<std::size_t>(world), count);
}

std::vector<std::size_t> given_or_equal(const std::vector<std::size_t>& counts, int world,
                                        std::size_t count) {
  return counts.empty() ? equal_parts(world, count) : counts;
}

void set_parts(CallFacts& facts, std::vector<std::size_t> parts) {
  facts.parts = std::move(parts);
  facts.count = first_of_part(facts.parts, facts.world);
}

}  // namespace

CallFacts facts_of(const Call& call, int rank, int world) {
  CallFacts facts{.operation = call.operation, .rank = rank, .world = world, .root = call.peer};
  const auto ranks = static_cast<std::size_t>(world);
  switch (call.operation) {
    case Operation::kBarrier:
      facts.root = 0;
      break;
    case Operation::kAllReduce:
    case Operation::kReduce:
    case Operation::kSend:
      facts.count = call.input.count;
      break;
    case Operation::kBroadcast:
    case Operation::kReceive:
      facts.count = call.output.count;
      break;
    case Operation::kReduceScatter:
    case Operation::kScatter:
      set_parts(facts, given_or_equal(call.input_counts, world, call.output.count));
      break;
    case Operation::kAllGather:
    case Operation::kGather:
      set_parts(facts, given_or_equal(call.output_counts, world, call.input.count));
      break;
    case Operation::kAllToAll:
      set_parts(facts, given_or_equal(call.input_counts, world, call.input.count / ranks));
      facts.arriving = given_or_equal(call.output_counts, world, call.output.count / ranks);
      break;
  }
  return facts;
}

bool is_rounded_between(const CallFacts& facts, int rank, int other) {
  if (facts.wire == WireDType::kSame) return false;
  return facts.hosts.empty() ||
         facts.hosts[static_cast<std::size_t>(rank)] != facts.hosts[static_cast<std::size_t>(other)];
}

std::size_t first_of_part(const std::vector<std::size_t>& parts, int part) {
  return std::accumulate(parts.begin(), parts.begin() + part, std::size_t{0});
}

}  // namespace cohort::comm
