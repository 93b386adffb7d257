#include "measure/clock_probe.h"

#include "comm/probe/probe_line.h"

#include <array>
#include <fmt/format.h>

namespace cohort::measure {
namespace {

using namespace std::chrono_literals;
using comm::ProbeLine;

constexpr std::uint32_t kClockTag = 0x636C6F63;

using Word = std::array<std::int64_t, 1>;
using Outcome = std::array<std::int64_t, 2>;

std::int64_t date(const ProbeLine& line) {
  return std::chrono::nanoseconds(line.clock().wall().time_since_epoch()).count();
}

Result<ClockOffset> one_trip(ProbeLine& line) {
  Word word{};
  const TimePoint begin = line.clock().now();
  const std::int64_t asked_at = date(line);
  COHORT_RETURN_IF_ERROR(line.say(std::span<const std::int64_t>(word)));
  COHORT_RETURN_IF_ERROR(line.hear(std::span<std::int64_t>(word)));
  const std::chrono::nanoseconds trip = line.clock().now() - begin;
  return ClockOffset{.offset = std::chrono::nanoseconds(word[0] - asked_at) - trip / 2, .error = trip / 2};
}

Result<ClockOffset> ask(ProbeLine& line, int trips) {
  COHORT_ASSIGN_OR_RETURN(ClockOffset best, one_trip(line));
  for (int i = 1; i < trips; ++i) {
    COHORT_ASSIGN_OR_RETURN(const ClockOffset another, one_trip(line));
    if (another.error < best.error) best = another;
  }
  const Outcome outcome{best.offset.count(), best.error.count()};
  COHORT_RETURN_IF_ERROR(line.say(std::span<const std::int64_t>(outcome)));
  return best;
}

Result<ClockOffset> answer(ProbeLine& line, int trips) {
  for (int i = 0; i < trips; ++i) {
    Word word{};
    COHORT_RETURN_IF_ERROR(line.hear(std::span<std::int64_t>(word)));
    word[0] = date(line);
    COHORT_RETURN_IF_ERROR(line.say(std::span<const std::int64_t>(word)));
  }
  Outcome outcome{};
  COHORT_RETURN_IF_ERROR(line.hear(std::span<std::int64_t>(outcome)));
  return ClockOffset{std::chrono::nanoseconds(outcome[0]), std::chrono::nanoseconds(outcome[1])};
}

}  // namespace

Result<ClockOffset> probe_clock(Communicator& group, int peer, const ClockProbeOptions& options) {
  COHORT_RETURN_IF_ERROR(comm::check_peer(group, peer));
  ProbeLine line(group, peer, {.tag = kClockTag, .limit = options.limit, .clock = options.clock});
  const int trips = std::max(options.trips, 1);
  return (line.is_lower() ? ask(line, trips) : answer(line, trips))
      .within(fmt::format("comparing clocks with rank {}", peer));
}

}  // namespace cohort::measure
