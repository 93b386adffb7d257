#pragma once

#include "comm/group/communicator.h"
#include "soak.h"
#include "world/world.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

namespace cohort {
class Arena;
}

namespace cohort::test {

/// One rank of a conformance test. A rank leaves by resetting its communicator.
struct Seat {
  RankContext& rank;
  std::unique_ptr<Communicator>& communicator;
  std::pmr::memory_resource* memory = std::pmr::new_delete_resource();  ///< allocates its buffers
  Arena* arena = nullptr;  ///< of the communicator; null: it has none

  Communicator* operator->() const { return communicator.get(); }
  Communicator& operator*() const { return *communicator; }
  int index() const { return rank.rank(); }
  int size() const { return rank.size(); }
};
using SeatBody = std::function<Status(Seat&)>;

struct SeatOptions {
  std::chrono::nanoseconds limit = std::chrono::seconds(15);  ///< deadline of calls without one of their own
  std::uint32_t generation = 0;
};

/// Whether the deadlines of a kind are in real or in virtual time.
enum class KindTime { kReal, kVirtual };

/// The types that are tried with every reduction. A kind that combines numbers with the code of another kind
/// needs only one type of each sort.
enum class Types { kAll, kOneOfEachSort };

/// Abilities that a kind may lack, with a reason: tests of them are skipped.
enum class Ability {
  kOutlivesFailure,  ///< a failure does not end the process
  kEndsCalls,        ///< a failure ends pending calls
  kComparesCalls,    ///< ranks that make different calls get an error
  kNamesAbsent,      ///< the error of a timeout names the ranks that are missing
  kNoticesLeaving,   ///< calls that need a rank that has left fail
  kRoundsOnce,       ///< sums of 16-bit floats are rounded at the end only
};

/// One kind of communicator for the conformance suite: runs a function as n ranks, each with its communicator
/// of the group 'world'.
///
/// A kind is one line in kinds.cpp.
struct Kind {
  std::string name{};  ///< letters, digits and underscores
  std::function<WorldOutcome(int world, const SeatBody&, const SeatOptions&)> run{};
  KindTime time = KindTime::kReal;
  std::map<Ability, std::string> lacks{};
  int largest_world = std::numeric_limits<int>::max();  ///< tests with larger worlds are left out
  Types types = Types::kAll;
  /// True: the kind differs from another one only in the algorithm or type of its collectives, so `make test`
  /// runs no other suite for it.
  bool differs_in_collectives_only = false;
};

inline void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

/// All kinds of communicators.
std::vector<Kind> all_kinds();
/// The kinds for which a suite may show something new.
inline std::vector<Kind> kinds_for(const std::string& suite) {
  std::vector<Kind> kinds = all_kinds();
  if (is_soak() || suite == "Collectives" || suite == "Consumers") return kinds;
  std::erase_if(kinds, [](const Kind& kind) { return kind.differs_in_collectives_only; });
  return kinds;
}

/// A test of all kinds: `TEST_P(Barrier, NobodyIsEarly) { run(4, [](Seat& seat) … ); }`.
class Conformance : public ::testing::TestWithParam<Kind> {
 protected:
  /// Runs the body on every rank and fails the test if the body fails on any rank.
  void run(int world, const SeatBody& body, const SeatOptions& options = {}) {
    if (world > GetParam().largest_world) {
      ++num_left_out_;
      return;
    }
    ++num_run_;
    const WorldOutcome outcome = GetParam().run(world, body, options);
    EXPECT_TRUE(outcome.ok()) << "world of " << world << ": " << outcome.text();
  }
  void TearDown() override {
    if (num_run_ == 0 && num_left_out_ > 0) {
      GTEST_SKIP() << "all its worlds are larger than " << GetParam().largest_world
                   << ", the largest of this kind";
    }
  }
  bool lacks(Ability ability) const { return GetParam().lacks.count(ability) > 0; }
  const std::string& why_it_lacks(Ability ability) const { return GetParam().lacks.at(ability); }

 private:
  int num_run_ = 0;
  int num_left_out_ = 0;
};

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool kHasManyWorlds = false;  // many slow threads on few cores show nothing more
#else
inline constexpr bool kHasManyWorlds = true;
#endif
/// World sizes: one rank, a pair, odd sizes. `make soak` runs the others; the schedules of every size are
/// checked without threads.
inline const std::vector<int> kWorlds =
    kHasManyWorlds && is_soak() ? std::vector{1, 2, 3, 4, 5, 8} : std::vector{1, 2, 3, 5};

/// An error for the body to return: `unexpected(seat, "got {}", text)`.
template <class... Args>
Error unexpected(const Seat& seat, fmt::format_string<Args...> format, Args&&... args) {
  return seat.rank.failure(format, std::forward<Args>(args)...);
}

}  // namespace cohort::test

/// Skips a test if the kind lacks the ability that it tests.
#define COHORT_NEEDS(ability) \
  if (lacks(ability)) GTEST_SKIP() << why_it_lacks(ability)

/// Runs the tests of one suite for every kind.
#define COHORT_FOR_ALL_KINDS(suite)                                         \
  INSTANTIATE_TEST_SUITE_P(                                                 \
      Kinds, suite, ::testing::ValuesIn(::cohort::test::kinds_for(#suite)), \
      [](const ::testing::TestParamInfo<::cohort::test::Kind>& kind) { return kind.param.name; })
