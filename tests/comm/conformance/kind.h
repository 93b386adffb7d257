#pragma once

#include "comm/communicator.h"
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

namespace cohort::test {

/// What one rank of a conformance test has. Resetting the communicator is how a rank leaves.
struct Seat {
  RankContext& rank;
  std::unique_ptr<Communicator>& communicator;
  std::pmr::memory_resource* memory = std::pmr::new_delete_resource();  ///< where its numbers are to lie

  Communicator* operator->() const { return communicator.get(); }
  Communicator& operator*() const { return *communicator; }
  int index() const { return rank.rank(); }
  int world() const { return rank.world(); }
};
using SeatBody = std::function<Status(Seat&)>;

struct SeatOptions {
  std::chrono::nanoseconds limit = std::chrono::seconds(15);  ///< of calls that have none of their own
  std::uint32_t generation = 0;
};

/// Whether the deadlines of a kind go by the clock on the wall.
enum class KindTime { kReal, kVirtual };

/// What a kind may lack, with the reason: tests of it are skipped.
enum class Ability {
  kOutlivesFailure,  ///< a failure does not end the process
  kEndsCalls,        ///< a failure takes pending calls back
  kComparesCalls,    ///< ranks that make different calls are told
  kNamesAbsent,      ///< a call that is late names who has not come
  kNoticesLeaving,   ///< whoever needs a rank that has left is told
  kRoundsOnce,       ///< sums of 16-bit floats are rounded at the end only
};

/// One kind of communicator, as the conformance suite sees it: a way to run a body as n ranks, each with its
/// communicator of the group 'world'.
///
/// A kind is one line in kinds.cpp.
struct Kind {
  std::string name{};  ///< letters, digits and underscores
  std::function<WorldOutcome(int world, const SeatBody&, const SeatOptions&)> run{};
  KindTime time = KindTime::kReal;
  std::map<Ability, std::string> lacks{};
  int largest_world = std::numeric_limits<int>::max();  ///< larger ones are left out
};

inline void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

/// Every kind there is.
std::vector<Kind> all_kinds();

/// A test of all kinds: `TEST_P(Barrier, NobodyIsEarly) { run(4, [](Seat& seat) … ); }`.
class Conformance : public ::testing::TestWithParam<Kind> {
 protected:
  /// Runs the body on every rank and fails the test if it fails on one.
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
inline constexpr int kWorlds[] = {1, 2, 3, 5};  // many slow threads on few cores show nothing more
#else
inline constexpr int kWorlds[] = {1, 2, 3, 4, 5, 8};
#endif

/// An error for the body to return: `unexpected(seat, "got {}", text)`.
template <class... Args>
Error unexpected(const Seat& seat, fmt::format_string<Args...> format, Args&&... args) {
  return seat.rank.failure(format, std::forward<Args>(args)...);
}

}  // namespace cohort::test

/// Skips a test where the kind lacks what it is about.
#define COHORT_NEEDS(ability) \
  if (lacks(ability)) GTEST_SKIP() << why_it_lacks(ability)

/// Runs the tests of one suite for every kind.
#define COHORT_FOR_ALL_KINDS(suite)                                   \
  INSTANTIATE_TEST_SUITE_P(                                           \
      Kinds, suite, ::testing::ValuesIn(::cohort::test::all_kinds()), \
      [](const ::testing::TestParamInfo<::cohort::test::Kind>& kind) { return kind.param.name; })
