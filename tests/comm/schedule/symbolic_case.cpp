#include "symbolic_case.h"

#include "expected.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace cohort::comm {
namespace {

std::optional<std::ptrdiff_t> overlap_of(const CallFacts& facts) {
  const auto first = [&] { return static_cast<std::ptrdiff_t>(first_of_part(facts.parts, facts.rank)); };
  switch (facts.operation) {
    case Operation::kReduceScatter:
      return first();
    case Operation::kAllGather:
      return -first();
    case Operation::kScatter:
      return facts.rank == facts.root ? std::optional(first()) : std::nullopt;
    case Operation::kGather:
      return facts.rank == facts.root ? std::optional(-first()) : std::nullopt;
    case Operation::kReduce:
      return facts.rank == facts.root ? std::optional<std::ptrdiff_t>(0) : std::nullopt;
    case Operation::kAllReduce:
    case Operation::kBroadcast:
      return 0;
    default:
      return std::nullopt;
  }
}

// The elements that rank `rank` receives from every rank in all_to_all.
std::vector<Terms::Term> expected_exchange(Terms& terms, const Case& one, int rank) {
  std::vector<Terms::Term> output;
  for (int from = 0; from < one.facts.world; ++from) {
    const std::size_t first = first_of_part(one.matrix[at(from)], rank);
    for (std::size_t i = 0; i < one.matrix[at(from)][at(rank)]; ++i)
      output.push_back(terms.leaf(from, first + i));
  }
  return output;
}

std::optional<std::string> find_wrong_output(Terms& terms, const Case& one, const RunOutcome& outcome) {
  std::vector<Terms::Term> expected;
  for (int rank = 0; rank < one.facts.world; ++rank) {
    if (!one.matrix.empty()) {
      expected = expected_exchange(terms, one, rank);
    } else if (rank == 0 || one.facts.operation != Operation::kAllReduce) {
      expected = expected_output(terms, one.algorithm.name(), one.facts_of(rank));
    }
    const auto& got = outcome.outputs[at(rank)];
    if (one.facts.operation == Operation::kBarrier) continue;
    if (got.size() != expected.size())
      return fmt::format("rank {} has {} elements, expected {}", rank, got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (terms.exact(got[i]) == expected[i]) continue;
      return fmt::format("element {} of rank {} is {}, expected {}", i, rank, terms.text(got[i]),
                         terms.text(expected[i]));
    }
  }
  return {};
}

// Results that several ranks get must be rounded the same way on all of them; results that were not sent must
// not be rounded.
std::optional<std::string> find_wrong_rounding(Terms& terms, const Case& one, const RunOutcome& outcome) {
  if (one.facts.operation != Operation::kAllReduce) return {};
  for (int rank = 0; rank < one.facts.world; ++rank) {
    const auto& got = outcome.outputs[at(rank)];
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] != outcome.outputs[0][i]) {
        return fmt::format("element {} of rank {} is {}, on rank 0 it is {}", i, rank, terms.text(got[i]),
                           terms.text(outcome.outputs[0][i]));
      }
      if (terms.is_rounded(got[i]) != (one.facts.wire != WireDType::kSame)) {
        return fmt::format("element {} of rank {} is {}", i, rank, terms.text(got[i]));
      }
    }
  }
  return {};
}

std::optional<std::string> find_wrong_effort(const Case& one, const std::vector<Schedule>& schedules,
                                             const std::vector<Counted>& counted) {
  if (!one.facts.hosts.empty() || !one.matrix.empty()) return {};  // tested elsewhere
  const Effort effort = one.algorithm.effort(one.facts);
  std::size_t moved = 0, combined = 0, scratch = 0;
  for (std::size_t rank = 0; rank < counted.size(); ++rank) {
    moved = std::max({moved, counted[rank].sent, counted[rank].received});
    combined = std::max(combined, counted[rank].combined);
    scratch = std::max(scratch, schedules[rank].scratch_count);
  }
  // The input of a folded rank and its result do not overlap with other messages.
  const bool folds =
      one.algorithm.name() == "halving_doubling" && (one.facts.world & (one.facts.world - 1)) != 0;
  if (folds) moved += one.facts.count;
  if (moved == effort.moved && combined == effort.combined && scratch == effort.scratch) return {};
  return fmt::format("moved {}, combined {}, scratch {}; the formula says {}, {}, {}", moved, combined,
                     scratch, effort.moved, effort.combined, effort.scratch);
}

}  // namespace

CallFacts Case::facts_of(int rank) const {
  CallFacts own = facts;
  own.rank = rank;
  if (matrix.empty()) return own;
  own.parts = matrix[at(rank)];
  own.count = first_of_part(own.parts, own.world);
  for (const Counts& row : matrix) own.arriving.push_back(row[at(rank)]);
  return own;
}

std::string Case::text() const {
  return fmt::format(
      "{} by {}: world {}, root {}, count {}, parts [{}], hosts [{}], chunks of {}, {} on the wire",
      name(facts.operation), algorithm.name(), facts.world, facts.root, facts.count,
      fmt::join(facts.parts, " "), fmt::join(facts.hosts, " "), facts.chunk_length, name(facts.wire));
}

std::vector<Schedule> schedules_of(const Case& one) {
  std::vector<Schedule> schedules;
  for (int rank = 0; rank < one.facts.world; ++rank) {
    schedules.push_back(plan_call(one.algorithm, one.facts_of(rank)));
  }
  return schedules;
}

std::vector<RankMemory> memories_of(const Case& one, Placing placing) {
  std::vector<RankMemory> memories;
  for (int rank = 0; rank < one.facts.world; ++rank) {
    const CallFacts facts = one.facts_of(rank);
    memories.push_back({.input_count = input_count(facts), .output_count = output_count(facts)});
    if (placing == Placing::kInPlace) memories.back().output_in_input = overlap_of(facts);
  }
  return memories;
}

std::optional<std::string> check_run(Terms& terms, const Case& one, const std::vector<Schedule>& schedules,
                                     const std::vector<RankMemory>& memories, RunOptions options) {
  const RunOutcome outcome = run_schedules(terms, schedules, memories, options);
  if (outcome.fault) return outcome.fault;
  if (one.facts.operation == Operation::kBarrier) {
    for (const std::uint64_t heard_of : outcome.heard_of) {
      if (heard_of != (std::uint64_t{1} << one.facts.world) - 1)
        return "a rank leaves the barrier before all ranks have entered it";
    }
  }
  if (auto wrong = find_wrong_output(terms, one, outcome)) return wrong;
  if (auto wrong = find_wrong_rounding(terms, one, outcome)) return wrong;
  return find_wrong_effort(one, schedules, outcome.counted);
}

namespace {

std::optional<std::string> check_case(const Case& one) {
  const std::vector<Schedule> schedules = schedules_of(one);
  Terms terms;
  for (const Placing placing : {Placing::kApart, Placing::kInPlace}) {
    const std::vector<RankMemory> memories = memories_of(one, placing);
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
      if (auto fault = find_fault(schedules[rank], memories[rank]))
        return fmt::format("rank {}: {}", rank, *fault);
    }
    const std::uint64_t seed = one.facts.count * 31 + at(one.facts.world);
    const Sending sending = placing == Placing::kApart ? Sending::kCopied : Sending::kMeeting;
    if (auto wrong = check_run(terms, one, schedules, memories, {.seed = seed, .sending = sending})) {
      return fmt::format("{}, {}", placing == Placing::kApart ? "apart" : "in place", *wrong);
    }
  }
  return {};
}

}  // namespace

void expect_right(const Case& one) {
  const auto wrong = check_case(one);
  EXPECT_FALSE(wrong) << one.text() << ": " << *wrong;
}

bool stop() {
  return ::testing::Test::HasFailure();
}

Counts awkward_counts(int world) {
  std::set<std::size_t> counts = {0, 1, 2, 7, 31, at(world - 1), at(world), at(world + 1), 101};
  if (world <= 5 || world == 8 || world == 13) counts.insert(1000);
  return {counts.begin(), counts.end()};
}

std::vector<Counts> awkward_parts(int world) {
  const std::size_t n = at(world);
  std::vector<Counts> all = {Counts(n, 0), Counts(n, 1), Counts(n, 5)};
  Counts ragged, one_long(n, 0);
  for (std::size_t rank = 0; rank < n; ++rank) ragged.push_back((rank * 7 + 3) % 5);
  one_long[n / 2] = 13;
  all.push_back(ragged);
  std::reverse(ragged.begin(), ragged.end());
  all.push_back(ragged);
  all.push_back(one_long);
  return all;
}

std::vector<int> awkward_roots(int world) {
  std::set<int> roots = {0, world / 2, world - 1};
  if (world <= 9) {
    for (int root = 0; root < world; ++root) roots.insert(root);
  }
  return {roots.begin(), roots.end()};
}

bool has_root(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kBroadcast ||
         operation == Operation::kGather || operation == Operation::kScatter;
}

bool combines(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduce ||
         operation == Operation::kReduceScatter;
}

std::vector<std::vector<int>> host_maps(int world) {
  std::vector<std::vector<int>> maps(5);
  for (int rank = 0; rank < world; ++rank) {
    maps[0].push_back(rank / 2);
    maps[1].push_back(rank % 3);
    maps[2].push_back(rank < 1 ? 7 : 3);
    maps[3].push_back(rank * rank % 5);
    maps[4].push_back(10 - rank / 4);
  }
  return maps;
}

}  // namespace cohort::comm
