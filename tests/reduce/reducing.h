#pragma once

#include "comm/conformance/kind.h"
#include "reduce/reducer.h"

#include <memory_resource>
#include <string>
#include <vector>

namespace cohort::test {

/// Communicators of this name: `shared_memory`, whose numbers lie in the arena, or a kind of network.
Kind kind_named(const std::string& name);

/// A reducer on one kind of communicator.
struct ReducerCase {
  Kind kind{};
  ReducerKind reducer{};

  std::string name() const { return std::string(reducer.name) + "_on_" + kind.name; }
};
void PrintTo(const ReducerCase& one, std::ostream* out);

/// Every reducer on shared memory, on messages, and on hosts of several ranks that follow each other or do
/// not.
std::vector<ReducerCase> reducer_cases();

/// The tests of every reducer: a new line in reducer_kinds() adds a case to each.
class EveryReducer : public ::testing::TestWithParam<ReducerCase> {
 protected:
  const ReducerKind& kind() const { return GetParam().reducer; }
  /// Runs the body on every rank and fails the test if the body fails on any rank.
  void run(int world, const SeatBody& body);
};

/// Whole numbers, different for ranks, lanes and elements; their sums are exact in any order.
float gradient_of(int rank, int lane, std::size_t index);
float sum_of_gradients(int world, int lane, std::size_t index);

/// The gradients of one rank in one lane, in memory that its communicator reduces best.
class Gradients {
 public:
  Gradients(const Seat& seat, int lane, std::size_t count);
  Numbers numbers() { return {numbers_.data(), numbers_.size(), DType::kF32}; }
  /// True if no number has changed.
  bool are_untouched() const;

 private:
  const int rank_;
  const int lane_;
  const std::unique_ptr<std::pmr::memory_resource>
      in_arena_;  // of several hosts; null: the seat has a memory
  std::pmr::vector<float> numbers_;
};

}  // namespace cohort::test

/// Runs the tests of a suite, made of EveryReducer, for every case.
#define COHORT_FOR_ALL_REDUCERS(suite)                                       \
  INSTANTIATE_TEST_SUITE_P(                                                  \
      Reducers, suite, ::testing::ValuesIn(::cohort::test::reducer_cases()), \
      [](const ::testing::TestParamInfo<::cohort::test::ReducerCase>& each) { return each.param.name(); })
