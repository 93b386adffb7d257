// One rank of a job whose user chooses the backend; the program itself does not mention MPI.
// Usage: mpi_backend_rank MODE
//
//   sum     two contexts, one after the other
//   die     sums without end; rank 1 kills itself after the third
//   late    rank 1 does not make a call
//   fail    rank 1 exits with code 3 while the others wait for it
//   go_on   as die; the others continue without it

#include <cohort/context.h>
#include <cohort/error.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using cohort::Context;

constexpr int kVictim = 1;
constexpr int kRounds = 3;

void sum(Context& context) {
  std::vector<std::int64_t> numbers(100'003, context.rank() + 1);
  context.all_reduce(std::span(numbers));
  const std::int64_t expected = std::int64_t{context.size()} * (context.size() + 1) / 2;
  for (const std::int64_t number : numbers) {
    if (number != expected) throw cohort::Error(cohort::ErrorCode::kCorrupt, "the sum is wrong");
  }
}

void sum_until_the_victim_dies(Context& context) {
  for (int round = 0;; ++round) {
    if (round == kRounds && context.rank() == kVictim) std::raise(SIGKILL);
    sum(context);
  }
}

void go_on(Context& context) {
  const int world = context.size();
  try {
    sum_until_the_victim_dies(context);
  } catch (const cohort::Error& error) {
    if (error.code() != cohort::ErrorCode::kPeerLost) throw;
    std::cout << error.text() << std::endl;
  }
  context.form(context.survivors());
  for (int round = 0; round < kRounds; ++round) sum(context);
  if (context.size() != world - 1)
    throw cohort::Error(cohort::ErrorCode::kBug, "expected one rank less than before");
  std::cout << "rank " << context.rank() << " of " << context.size() << " went on" << std::endl;
}

int run(std::string_view mode) {
  Context context({.limit = std::chrono::milliseconds(mode == "late" ? 500 : 20'000)});
  sum(context);
  if (context.rank() == 0) std::cout << context.size() << " ranks, the sum is right" << std::endl;
  if (mode == "die") sum_until_the_victim_dies(context);
  if (mode == "go_on") go_on(context);
  if (mode == "fail" && context.rank() == kVictim) return 3;
  if (mode == "late" && context.rank() == kVictim) std::this_thread::sleep_for(std::chrono::seconds(30));
  if (mode == "fail" || mode == "late") sum(context);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "sum") (void)run(mode);
  return run(mode);
} catch (const cohort::Error& error) {
  std::cerr << error.text() << std::endl;
  return 1;
}
