// One rank of a job whose user chooses the backend; the program itself does not mention MPI.
// Usage: mpi_backend_rank MODE
//
//   sum     two contexts, one after the other
//   die     sums without end; rank 1 kills itself after the third
//   late    rank 1 does not make a call
//   fail    rank 1 exits with code 3 while the others wait for it
//   go_on   as die; the others continue without it
//   form US rank 1 kills itself US microseconds after the others began to form a generation with it
//   absent  rank 1 calls survivors() only after the others have waited for it in vain

#include <cohort/context.h>
#include <cohort/error.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using cohort::Context;

constexpr int kVictim = 1;
constexpr int kRounds = 3;
constexpr std::chrono::milliseconds kShortMeeting(300);

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

// Returns once all ranks have a Context. The first one that goes on to survivors() ends the call of the
// others.
void wait_for_all_to_join(Context& context) {
  try {
    context.barrier();
  } catch (const cohort::Error& error) {
    if (error.code() != cohort::ErrorCode::kAborted) throw;
  }
}

// The generation may have been formed before the victim dies; then a sum fails.
void form_while_the_victim_dies(Context& context, std::chrono::microseconds after) {
  const int world = context.size();
  const bool is_victim = context.rank() == kVictim;
  wait_for_all_to_join(context);
  std::vector<cohort::Member> members = context.survivors();
  const std::jthread killer([=] {
    if (!is_victim) return;
    std::this_thread::sleep_for(after);
    std::raise(SIGKILL);
  });
  while (true) {
    try {
      context.form(members);
      while (context.size() == world) sum(context);
      break;
    } catch (const cohort::Error& error) {
      const bool is_loss =
          error.code() == cohort::ErrorCode::kPeerLost || error.code() == cohort::ErrorCode::kAborted;
      if (!is_loss) throw;
      members = context.survivors();
    }
  }
  for (int round = 0; round < kRounds; ++round) sum(context);
  std::cout << "rank " << context.rank() << " of " << context.size() << " went on" << std::endl;
}

void come_late(Context& context) {
  std::vector<cohort::Member> members;
  wait_for_all_to_join(context);
  if (context.rank() == kVictim) std::this_thread::sleep_for(3 * kShortMeeting);
  while (members.empty()) {
    try {
      members = context.survivors();
    } catch (const cohort::Error& error) {
      if (error.code() != cohort::ErrorCode::kTimedOut) throw;
      std::cout << "rank " << context.rank() << " waits in vain: " << error.text() << std::endl;
    }
  }
  context.form(members);
  sum(context);
  std::cout << "rank " << context.rank() << " of " << context.size() << " went on" << std::endl;
}

int run(std::string_view mode, std::string_view number) {
  Context context({.limit = std::chrono::milliseconds(mode == "late" ? 500 : 20'000),
                   .meeting_limit = mode == "absent" ? kShortMeeting : std::chrono::milliseconds(20'000)});
  if (mode == "form")
    form_while_the_victim_dies(context, std::chrono::microseconds(std::atoi(number.data())));
  if (mode == "absent") come_late(context);
  if (mode == "form" || mode == "absent") return 0;
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
  const std::string_view number = argc > 2 ? argv[2] : "0";
  if (mode == "sum") (void)run(mode, number);
  return run(mode, number);
} catch (const cohort::Error& error) {
  std::cerr << error.text() << std::endl;
  return 1;
}
