#include "comm/probe/link_probe.h"

#include "comm/probe/probe_line.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

namespace cohort::comm {
namespace {

constexpr std::uint32_t kLinkTag = 0x6C696E6B;
constexpr std::size_t kFirstBytes = std::size_t{4} << 10;
constexpr int kFewestPings = 4;
constexpr int kMostPings = 400;
constexpr int kFewestPairs = 3;
constexpr int kMostPairs = 8;
constexpr double kMostAboveAverage = 1.1;
constexpr int kDoubts = 2;      // times that a message must take long: once may be a disturbance
constexpr int kPingShare = 5;   // the fraction 1/n of the time is for round trips
constexpr int kLargeShare = 5;  // a message is large if its bytes take 1/n of the time

// A command of the sender: a kind and two numbers. Answers have the same form; their content is ignored.
enum class Kind { kPing, kTransfer, kEnd };
using Command = std::array<double, 3>;

Command command_of(Kind kind, double first = 0, double second = 0) {
  return {static_cast<double>(kind), first, second};
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// The side that sends the bytes, decides and measures.
class Sender {
 public:
  Sender(ProbeLine& line, const LinkProbeOptions& options) : line_(line), options_(options) {}

  Result<LinkFigures> run() {
    started_at_ = line_.clock().now();
    COHORT_RETURN_IF_ERROR(measure_latency());
    COHORT_ASSIGN_OR_RETURN(const std::size_t large, find_large());
    COHORT_RETURN_IF_ERROR(measure_bytes(large));
    COHORT_RETURN_IF_ERROR(say(command_of(Kind::kEnd, figures_.latency_s, figures_.byte_s)));
    return figures_;
  }

 private:
  Status measure_latency() {
    double best = 0;
    for (int i = 0; i < kFewestPings || (i < kMostPings && elapsed() < options_.time / kPingShare); ++i) {
      COHORT_ASSIGN_OR_RETURN(const double trip, ping());
      best = i == 0 ? trip : std::min(best, trip);
    }
    figures_.latency_s = best / 2;
    return {};
  }

  // Finds a length that keeps the link busy for long enough, every time.
  Result<std::size_t> find_large() {
    std::size_t bytes = std::max<std::size_t>(std::min(kFirstBytes, options_.most_bytes), 1);
    while (bytes * 2 <= options_.most_bytes) {
      COHORT_ASSIGN_OR_RETURN(const bool is_large, takes_long(bytes));
      if (is_large) break;
      bytes *= 2;
    }
    return bytes;
  }

  Result<bool> takes_long(std::size_t bytes) {
    for (int i = 0; i < kDoubts; ++i) {
      COHORT_ASSIGN_OR_RETURN(const double time, transfer(bytes));
      if (bytes_part(time) < seconds(options_.time) / kLargeShare) return false;
    }
    return true;
  }

  // The smaller message goes first in every pair: it finds the link as the larger message before left it.
  Status measure_bytes(std::size_t large) {
    const std::size_t small = large / 2;
    double best_small = 0;
    double best_large = 0;
    for (int i = 0; i < kFewestPairs || (i < kMostPairs && elapsed() < options_.time); ++i) {
      COHORT_ASSIGN_OR_RETURN(const double time_small, transfer(small));
      COHORT_ASSIGN_OR_RETURN(const double time_large, transfer(large));
      best_small = i == 0 ? time_small : std::min(best_small, time_small);
      best_large = i == 0 ? time_large : std::min(best_large, time_large);
    }
    const double slope = (best_large - best_small) / static_cast<double>(large - small);
    // If all small messages or round trips were disturbed, the slope is too small or negative; if all large
    // messages were, it is too large. The average bounds it: the burst of a token bucket is a small part of a
    // large message.
    const double average = std::max(bytes_part(best_large), best_large / 10) / static_cast<double>(large);
    figures_.byte_s = std::clamp(slope, average / 2, kMostAboveAverage * average);
    return {};
  }

  double bytes_part(double time) const { return time - 2 * figures_.latency_s; }

  Result<double> ping() {
    const TimePoint begin = line_.clock().now();
    COHORT_RETURN_IF_ERROR(say(command_of(Kind::kPing)));
    COHORT_RETURN_IF_ERROR(hear_answer());
    return seconds(line_.clock().now() - begin);
  }

  // The time from the first byte sent to the acknowledgement of the last.
  Result<double> transfer(std::size_t bytes) {
    if (payload_.size() < bytes) payload_.resize(bytes);
    COHORT_RETURN_IF_ERROR(say(command_of(Kind::kTransfer, static_cast<double>(bytes))));
    COHORT_RETURN_IF_ERROR(hear_answer());
    const TimePoint begin = line_.clock().now();
    COHORT_RETURN_IF_ERROR(line_.say(std::span<const std::byte>(payload_).first(bytes)));
    COHORT_RETURN_IF_ERROR(hear_answer());
    return seconds(line_.clock().now() - begin);
  }

  Status say(const Command& command) { return line_.say(std::span<const double>(command)); }
  Status hear_answer() {
    Command answer{};
    return line_.hear(std::span<double>(answer));
  }
  std::chrono::nanoseconds elapsed() const { return line_.clock().now() - started_at_; }

  ProbeLine& line_;
  const LinkProbeOptions& options_;
  std::vector<std::byte> payload_;
  TimePoint started_at_{};
  LinkFigures figures_{};
};

/// The side that receives and answers, until the sender tells the figures.
Result<LinkFigures> obey(ProbeLine& line, const LinkProbeOptions& options) {
  std::vector<std::byte> payload;
  while (true) {
    Command command{};
    COHORT_RETURN_IF_ERROR(line.hear(std::span<double>(command)));
    const auto [kind, first, second] = command;
    if (kind == static_cast<double>(Kind::kEnd)) return LinkFigures{first, second};
    if (kind == static_cast<double>(Kind::kTransfer)) {
      if (!(first >= 0 && first <= static_cast<double>(options.most_bytes))) {
        return Error(ErrorCode::kCorrupt,
                     fmt::format("the sender announced a message of {} bytes, expected 0 … {}", first,
                                 options.most_bytes));
      }
      const auto bytes = static_cast<std::size_t>(first);
      if (payload.size() < bytes) payload.resize(bytes);
      COHORT_RETURN_IF_ERROR(line.say(std::span<const double>(command)));
      COHORT_RETURN_IF_ERROR(line.hear(std::span(payload).first(bytes)));
    }
    COHORT_RETURN_IF_ERROR(line.say(std::span<const double>(command)));
  }
}

}  // namespace

Result<LinkFigures> probe_link(Communicator& group, int peer, const LinkProbeOptions& options) {
  COHORT_RETURN_IF_ERROR(check_peer(group, peer));
  ProbeLine line(group, peer, {.tag = kLinkTag, .limit = options.limit, .clock = options.clock});
  const bool sends = line.is_lower() == (options.sender == ProbeSender::kLowerRank);
  auto figures = sends ? Sender(line, options).run() : obey(line, options);
  return std::move(figures).within(fmt::format("measuring the link to rank {}", peer));
}

std::vector<std::vector<std::pair<int, int>>> probe_rounds(int n) {
  const int chairs = n + n % 2;
  std::vector<int> seats(static_cast<std::size_t>(chairs));
  std::iota(seats.begin(), seats.end(), 0);
  std::vector<std::vector<std::pair<int, int>>> rounds;
  for (int round = 0; round + 1 < chairs; ++round) {
    auto& pairs = rounds.emplace_back();
    for (std::size_t i = 0; i < seats.size() / 2; ++i) {
      const auto [low, high] = std::minmax(seats[i], seats[seats.size() - 1 - i]);
      if (high < n) pairs.emplace_back(low, high);
    }
    std::rotate(seats.begin() + 1, seats.end() - 1, seats.end());
  }
  return rounds;
}

}  // namespace cohort::comm
