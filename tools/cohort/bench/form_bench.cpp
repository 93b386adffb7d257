#include "bench/form_bench.h"

#include "base/checksum.h"
#include "comm/shared_memory/arena.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "world/membership.h"

#include <array>
#include <csignal>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

namespace cohort::tool {
namespace {

using world::Membership;

// Calls before the loss, so that connections and threads are warm.
constexpr int kWarmUp = 200;

// The ranks of the namespaces of one machine need less to begin the call that fails.
constexpr std::chrono::milliseconds kUntilTheKill(20);

// Changes with every start of the kernel, and is the same in all namespaces.
Result<std::int64_t> kernel_number() {
  LocalFileSystem files;
  COHORT_ASSIGN_OR_RETURN(const std::string text,
                          read_file(files, "/proc/sys/kernel/random/boot_id", std::size_t{1} << 10));
  return static_cast<std::int64_t>(content_hash(std::as_bytes(std::span(text))));
}

Status check_one_clock(Communicator& group) {
  COHORT_ASSIGN_OR_RETURN(const std::int64_t own, kernel_number());
  std::array<std::int64_t, 2> range = {own, ~own};
  COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(range), ReduceOp::kMax)));
  if (range[0] == ~range[1]) return {};
  return Error(ErrorCode::kUsage, "the ranks run on several machines, whose clocks differ")
      .with_remedy("Start all ranks on one machine, or on hosts that are its network namespaces.");
}

/// Rounds of loss and new generation on one rank.
class FormBench {
 public:
  FormBench(Membership& membership, std::unique_ptr<Communicator> group)
      : membership_(membership), group_(std::move(group)) {}

  Result<FormRow> lose_one() {
    FormRow row{.ranks = group_->size()};
    for (int call = 0; call < kWarmUp; ++call) COHORT_RETURN_IF_ERROR(sum());
    COHORT_ASSIGN_OR_RETURN(killed_at_, agree_on_the_kill());
    if (is_victim()) {
      std::this_thread::sleep_until(killed_at_);
      ::kill(::getpid(), SIGKILL);
    }
    if (sum()) return Error(ErrorCode::kBug, "a call succeeded without the rank that was killed");
    row.noticed_s = elapsed_s();
    COHORT_ASSIGN_OR_RETURN(const std::vector<Member> members, membership_.survivors());
    row.agreed_s = elapsed_s();
    COHORT_RETURN_IF_ERROR(membership_.form(members));
    group_ = membership_.take_groups().own;
    row.formed_s = elapsed_s();
    COHORT_RETURN_IF_ERROR(sum());
    row.summed_s = elapsed_s();
    std::array<double, 4> times = {row.noticed_s, row.agreed_s, row.formed_s, row.summed_s};
    COHORT_RETURN_IF_ERROR(group_->run(all_reduce(std::span(times), ReduceOp::kMax)));
    return FormRow{row.ranks, times[0], times[1], times[2], times[3]};
  }

 private:
  bool is_victim() const { return group_->rank() == group_->size() - 1; }

  // The time of the kill is known before it, by the clock that all processes of a machine share. The other
  // ranks have begun to wait by then. A victim that wakes up late makes the result worse, not better.
  Result<TimePoint> agree_on_the_kill() {
    const auto ns = [](TimePoint time) { return std::chrono::nanoseconds(time.time_since_epoch()).count(); };
    std::int64_t planned = is_victim() ? ns(std::chrono::steady_clock::now() + kUntilTheKill) : 0;
    COHORT_RETURN_IF_ERROR(group_->run(all_reduce(std::span(&planned, 1), ReduceOp::kMax)));
    return TimePoint(std::chrono::nanoseconds(planned));
  }

  double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - killed_at_).count();
  }

  Status sum() {
    std::int64_t total = static_cast<std::int64_t>(membership_.own().id);
    COHORT_RETURN_IF_ERROR(group_->run(all_reduce(std::span(&total, 1))));
    std::int64_t expected = 0;
    for (const Member& member : membership_.members()) expected += static_cast<std::int64_t>(member.id);
    if (total == expected) return {};
    return Error(ErrorCode::kCorrupt, fmt::format("the sum is {}, expected {}", total, expected));
  }

  Membership& membership_;
  std::unique_ptr<Communicator> group_;
  TimePoint killed_at_{};
};

}  // namespace

Result<std::vector<FormRow>> bench_form(const LaunchFacts& facts, int losses) {
  if (facts.world <= losses) {
    return Error(ErrorCode::kUsage, fmt::format("{} ranks cannot lose {} and go on, expected {} or more",
                                                facts.world, losses, losses + 1))
        .with_remedy("Start it with cohort run -n 4 --on-rank-loss tell cohort bench form.");
  }
  COHORT_ASSIGN_OR_RETURN(const auto arena, Arena::create());
  COHORT_ASSIGN_OR_RETURN(const auto membership, Membership::join(facts, *arena, {}));
  Membership::Groups groups = membership->take_groups();
  COHORT_RETURN_IF_ERROR(check_one_clock(*groups.own));
  FormBench bench(*membership, std::move(groups.own));
  std::vector<FormRow> rows;
  for (int loss = 0; loss < losses; ++loss) {
    COHORT_ASSIGN_OR_RETURN(rows.emplace_back(), bench.lose_one());
  }
  return rows;
}

}  // namespace cohort::tool
