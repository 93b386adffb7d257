#include "base/units.h"
#include "comm/exchange/exchange.h"

#include <fmt/format.h>
#include <utility>

// Signs of life: asking for them, answering, and giving up members that are silent for too long.

namespace cohort::comm {
namespace {

constexpr std::uint64_t kQuestion = 1;  // number of a kAlive message that wants an answer
constexpr std::uint64_t kSign = 0;

}  // namespace

void Exchange::watch(const Waiter* waiter) {
  const std::lock_guard lock(mutex_);
  if (waiter != nullptr) waiters_.push_back(waiter);
  silence_.start(clock_.now());
  if (doorbell_ != nullptr) doorbell_->ring();
}

void Exchange::unwatch(const Waiter* waiter) {
  const std::lock_guard lock(mutex_);
  std::erase(waiters_, waiter);
  silence_.stop();
}

bool Exchange::judge_silence() {
  std::vector<int> dead;
  std::vector<int> quiet;
  std::vector<int> others;
  std::string waiting = "others wait for it";
  {
    const std::lock_guard lock(mutex_);
    if (!silence_.tick(clock_.now())) return false;
    for (int other = 0; other < num_members(); ++other) {
      if (other == member() || peer(other).loss) continue;
      (silence_.is_dead(other) ? dead : others).push_back(other);
      if (silence_.is_getting_long(other)) quiet.push_back(other);
    }
    if (!quiet.empty() && !waiters_.empty()) waiting = waiters_.front()->waiting_call() + " waits";
  }
  for (const int other : quiet) {
    if (!options_.warn) break;
    options_.warn(fmt::format(
        "rank {} has shown no sign of life for {}, while {}: its process is stopped or gets no CPU "
        "time, or its host cannot be reached. It counts as lost after {}.",
        other, format_duration(DefaultLimit::kSilence), waiting, format_duration(options_.liveness)));
  }
  for (const int other : dead) {
    transport_->give_up(
        other, Error(ErrorCode::kPeerLost, fmt::format("member {} gave no sign of life for {}", other,
                                                       format_duration(options_.liveness))));
  }
  for (const int other : others) ask(other);
  return true;
}

// One question at a time: questions must not pile up for a member that does not read.
void Exchange::ask(int member) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(peer(member).is_asked, true)) return;
  }
  send(member, {.channel = Channel::kAlive, .number = kQuestion}, {}, [this, member](const Status&) {
    const std::lock_guard lock(mutex_);
    peer(member).is_asked = false;
  });
}

void Exchange::answer(int member, const FrameHeader& header) {
  if (header.number == kQuestion) send(member, {.channel = Channel::kAlive, .number = kSign}, {}, {});
}

}  // namespace cohort::comm
