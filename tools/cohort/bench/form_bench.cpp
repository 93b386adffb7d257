#include "bench/form_bench.h"

#include "comm/shared_memory/arena.h"
#include "world/membership.h"

#include <array>
#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

using world::Membership;

// Calls before the loss, so that connections and threads are warm.
constexpr int kWarmUp = 200;

/// Rounds of loss and new generation on one rank.
class FormBench {
 public:
  explicit FormBench(Membership& membership)
      : membership_(membership), group_(membership.take_groups().own) {}

  Result<FormRow> lose_one() {
    FormRow row{.ranks = group_->size()};
    for (int call = 0; call < kWarmUp; ++call) COHORT_RETURN_IF_ERROR(sum());
    if (group_->rank() == group_->size() - 1) ::kill(::getpid(), SIGKILL);
    begin_ = std::chrono::steady_clock::now();
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
  double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
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
  TimePoint begin_{};
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
  FormBench bench(*membership);
  std::vector<FormRow> rows;
  for (int loss = 0; loss < losses; ++loss) {
    COHORT_ASSIGN_OR_RETURN(rows.emplace_back(), bench.lose_one());
  }
  return rows;
}

}  // namespace cohort::tool
