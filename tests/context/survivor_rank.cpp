// One member of a job that loses members and goes on. Usage: survivor_rank MODE.
//
//   three   the last member kills itself, three times over; the others form the next generation each time
//   spare   worker 1 kills itself; a spare takes its place, with its role
//   frozen  the last member stops itself
//   one     the last member kills itself
//   host    members 2 and 3 kill themselves at the same time
//   late    member 1 kills itself while the others form a generation
//   alone   the last member kills itself while the others form a generation
//   still   the last member stops itself while the others form a generation
//   agent   the last member kills the process that started it, and itself, while the others form a generation
//   often   all form generations of all, each in another order, without a failure

#include "comm/group/communicator.h"
#include "launch/variable_reader.h"

#include <algorithm>
#include <cohort/context.h>
#include <csignal>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;
using cohort::Context;
using cohort::Error;
using cohort::ErrorCode;
using cohort::Member;

constexpr int kRounds = 20;
constexpr std::size_t kCount = 10'007;

void say(const std::string& text) {
  std::cout << text << std::endl;
}

[[noreturn]] void fail(const std::string& text) {
  throw Error(ErrorCode::kBug, text);
}

// The sum of the ids of all members of the group, in every element; the numbers are in the arena or not.
void check_sum(Context& context, int round) {
  std::vector<std::int64_t> own(kCount, static_cast<std::int64_t>(context.id()) + 1 + round);
  context.all_reduce(own);
  std::int64_t expected = 0;
  for (const Member& member : context.members()) {
    if (member.role == context.role()) expected += static_cast<std::int64_t>(member.id) + 1 + round;
  }
  for (const std::int64_t number : own) {
    if (number != expected) fail(fmt::format("round {}: {} instead of {}", round, number, expected));
  }
}

[[noreturn]] void die(int signal) {
  say(fmt::format("pid {} dies", ::getpid()));
  ::raise(signal);
  ::sleep(60);
  std::_Exit(9);
}

// The others may still be in the last of these calls, which fails for them, too.
[[noreturn]] void die_after_some_sums(Context& context, int signal) {
  for (int round = 0; round < kRounds; ++round) check_sum(context, round);
  die(signal);
}

// Groups of an earlier generation are still there, and refuse every call by its number.
void check_stale(cohort::Group& group, std::uint32_t generation) {
  try {
    group.barrier();
  } catch (const Error& error) {
    const std::string text = error.text();
    const std::string was = fmt::format("of generation {}", generation);
    if (error.code() == ErrorCode::kStale && text.find(was) != std::string::npos) return;
    fail(fmt::format("expected kStale and '{}': {}", was, text));
  }
  fail("a call of an earlier generation succeeded");
}

// Runs rounds until a call fails, and returns the error.
Error sum_until_it_fails(Context& context) {
  for (int round = 0; round < 1000 * kRounds; ++round) {
    try {
      check_sum(context, round);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kBug) throw;
      return error;
    }
  }
  fail("no call has failed");
}

void form_of_survivors(Context& context) {
  const std::uint32_t before = context.generation();
  context.form(context.survivors());
  if (context.generation() != before + 1) fail(fmt::format("generation {}", context.generation()));
}

void lose_three_times(Context& context) {
  std::vector<cohort::Group> kept;
  for (int loss = 0; loss < 3; ++loss) {
    kept.push_back(*context.split(0, 0, "kept"));
    std::vector<float> pending(kCount);
    cohort::Work work = kept.back().async_all_reduce(pending);
    const int victim = context.size() - 1;
    if (context.rank() == victim) die_after_some_sums(context, SIGKILL);
    const Error error = sum_until_it_fails(context);
    if (error.code() != ErrorCode::kPeerLost && error.code() != ErrorCode::kAborted) throw error;
    if (error.code() == ErrorCode::kPeerLost && error.rank() != victim) {
      fail(fmt::format("rank {} is blamed: {}", error.rank().value_or(-1), error.text()));
    }
    form_of_survivors(context);
    if (context.size() != victim) fail(fmt::format("{} ranks", context.size()));
    if (!work.is_done()) fail("a call of the old generation is still pending");
    for (std::size_t old = 0; old < kept.size(); ++old)
      check_stale(kept[old], static_cast<std::uint32_t>(old));
  }
  for (int round = 0; round < kRounds; ++round) check_sum(context, round);
  say(fmt::format("rank {} of {} went on through 3 losses to generation {}", context.rank(), context.size(),
                  context.generation()));
}

void call_a_spare(Context& context) {
  if (context.role() == cohort::Role::kWorker) {
    if (context.id() == 1) die_after_some_sums(context, SIGKILL);
    (void)sum_until_it_fails(context);
  } else {
    try {
      context.everyone().barrier();
      fail("no worker was lost");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kPeerLost && error.code() != ErrorCode::kAborted) throw;
    }
  }
  std::vector<Member> members = context.survivors();
  for (Member& member : members) {
    if (member.role == cohort::Role::kSpare) member.role = cohort::Role::kWorker;
  }
  context.form(members);
  for (int round = 0; round < kRounds; ++round) check_sum(context, round);
  context.everyone().barrier();
  say(fmt::format("member {} is {} {} of {}", context.id(), name(context.role()), context.rank(),
                  context.size()));
}

void lose_the_last(Context& context, int num_lost, int signal) {
  if (context.rank() >= context.size() - num_lost) die_after_some_sums(context, signal);
  (void)sum_until_it_fails(context);
  form_of_survivors(context);
  for (int round = 0; round < kRounds; ++round) check_sum(context, round);
  say(fmt::format("rank {} of {} went on", context.rank(), context.size()));
}

void lose_one_while_forming(Context& context, std::uint64_t lost, const std::function<void()>& end) {
  const std::vector<Member> all = context.survivors();
  if (static_cast<int>(all.size()) != context.size()) fail("a member was lost before it died");
  if (context.id() == lost) end();
  try {
    context.form(all);
    check_sum(context, 0);
    fail("a generation was formed with a dead member");
  } catch (const Error& error) {
    const bool was_missed = error.code() == ErrorCode::kTimedOut;
    if (!was_missed && error.code() != ErrorCode::kPeerLost && error.code() != ErrorCode::kAborted) throw;
  }
  context.form(context.survivors());
  for (int round = 0; round < kRounds; ++round) check_sum(context, round);
  say(fmt::format("rank {} of {} went on in generation {}", context.rank(), context.size(),
                  context.generation()));
}

// A member that is done with a call and forms the next generation does not disturb the others in that call.
void form_without_a_failure(Context& context) {
  for (int time = 0; time < 20; ++time) {
    check_sum(context, time);
    // As a trainer holds the group that it was made with.
    const std::shared_ptr<void> held = context.hold();
    cohort::Communicator& group = context.communicator();
    std::vector<Member> others = context.members();
    std::rotate(others.begin(), others.begin() + 1, others.end());  // ranks follow the order of the list
    context.form(others);
    const cohort::Status refused = group.run(cohort::barrier());
    if (refused || refused.error().code() != ErrorCode::kStale) fail("a held group is not refused");
  }
  check_sum(context, 0);
  say(fmt::format("rank {} of {} in generation {}", context.rank(), context.size(), context.generation()));
}

// Members that nothing tells of a loss find out when this limit has passed; those that are told need none.
std::chrono::nanoseconds meeting_limit_of(const std::string& mode) {
  if (mode == "agent") return 1h;
  return mode == "alone" || mode == "still" ? 2s : 20s;
}

int run(const std::string& mode) {
  const bool is_spare = mode == "spare" && cohort::own_environment()["COHORT_ROLE"] == "spare";
  Context context({.limit = is_spare ? std::chrono::nanoseconds(1h) : std::chrono::nanoseconds(20s),
                   .liveness = mode == "frozen" ? 500ms : 10s,
                   .link_limit = 3s,
                   .meeting_limit = meeting_limit_of(mode),
                   .arena_bytes = std::size_t{64} << 20});
  if (mode == "three") lose_three_times(context);
  if (mode == "spare") call_a_spare(context);
  if (mode == "frozen") lose_the_last(context, 1, SIGSTOP);
  if (mode == "one") lose_the_last(context, 1, SIGKILL);
  if (mode == "host") lose_the_last(context, 2, SIGKILL);
  const std::uint64_t last = context.members().back().id;
  if (mode == "late") lose_one_while_forming(context, 1, [] { die(SIGKILL); });
  if (mode == "alone") lose_one_while_forming(context, last, [] { die(SIGKILL); });
  if (mode == "still") lose_one_while_forming(context, last, [] { die(SIGSTOP); });
  if (mode == "agent") {
    lose_one_while_forming(context, last, [] {
      ::kill(::getppid(), SIGKILL);
      die(SIGKILL);
    });
  }
  if (mode == "often") form_without_a_failure(context);
  context.barrier();
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc > 1 ? argv[1] : "");
} catch (const cohort::Error& error) {
  std::cout << "failed: " << name(error.code()) << ": " << error.text() << std::endl;
  return 3;
}
