#include "base/check.h"
#include "ucx/doorbell.h"
#include "ucx/transport.h"

#include <algorithm>
#include <fmt/format.h>

// Withdrawing messages, and closing the transport.

namespace cohort::ucx {

using comm::FrameHeader;

namespace {

// How long UCX may take to end messages in flight when its endpoints are closed.
constexpr std::chrono::milliseconds kEndLimit{100};
constexpr std::chrono::seconds kLetGoLimit{10};

struct DroppingSink final : comm::FrameSink {
  std::span<std::byte> buffer_for(int, const FrameHeader&) override { return {}; }
  void arrived(int, const FrameHeader&) override {}
  void withdrawn(int, const FrameHeader&) override {}
  void lost(int, const Error&) override {}
};

}  // namespace

void UcxTransport::withdraw(std::uint32_t group, std::uint32_t generation) {
  num_visitors_.fetch_add(1);
  const Lock lock(worker_->mutex());
  num_visitors_.fetch_sub(1);
  const auto is_over = [&](const Message& message) { return message.header.is_of(group, generation); };
  {
    const std::lock_guard inner(mutex_);
    if (closed_) return;
    std::erase_if(queue_, is_over);
  }
  ++num_withdrawals_;
  std::erase_if(to_self_, is_over);
  sends_.forget(group, generation);
  for (const auto& each : links_) each->forget(group, generation);
  for (const auto& each : links_) settle(*each, group, generation);
  if (doorbell_ != nullptr) doorbell_->ring();
}

// The peer receives the messages in flight, wanted or not, as long as it makes progress. The peer may wait
// for us in the same way, so all messages that are offered here are fetched meanwhile.
void UcxTransport::settle(Link& link, std::uint32_t group, std::uint32_t generation) {
  const TimePoint until = clock_.now() + options_.withdraw_limit;
  while (link.uses(group, generation)) {
    if (clock_.now() >= until) {
      link.lose(Error(ErrorCode::kPeerLost,
                      fmt::format("member {} did not receive a withdrawn message within {} ms", link.member(),
                                  options_.withdraw_limit / std::chrono::milliseconds(1))),
                Parting::kAtOnce, until);
    }
    COHORT_CHECK(clock_.now() < until + kLetGoLimit, "UCX still uses the memory of a withdrawn message");
    worker_->progress();
    for (const auto& each : links_) each->fetch_all();
    link.advance_end(clock_.now());
  }
}

void UcxTransport::close() {
  num_visitors_.fetch_add(1);
  {
    const std::lock_guard lock(mutex_);
    if (closed_.exchange(true)) return;
  }
  advancing_.wait(true);
  if (sink_ != nullptr) linger();
  end_worker();
}

// The callback of a short message comes before the message is out, so a member that leaves has to wait for
// its messages. The peers answer the farewell when they have received everything. Messages that arrive
// meanwhile are dropped.
void UcxTransport::linger() {
  DroppingSink dropping;
  sink_ = &dropping;
  const TimePoint until = clock_.now() + options_.leave_limit;
  {
    const Lock lock(worker_->mutex());
    is_leaving_ = true;
    hand_over();
    to_self_.clear();
    for (const auto& each : links_) {
      if (each->is_connected() && !each->loss()) each->say_farewell();
    }
  }
  UcxDoorbell doorbell(worker_);
  const auto is_awaited = [&](const auto& each) { return this->is_awaited(*each); };
  while (clock_.now() < until && std::any_of(links_.begin(), links_.end(), is_awaited)) {
    const std::uint32_t ticket = doorbell.arm();
    if (!advance_all()) doorbell.sleep(ticket, std::min(until, wanted_at()));
    doorbell.disarm();
  }
  sink_ = nullptr;
}

bool UcxTransport::is_awaited(const Link& link) const {
  if (link.member() == member_) return false;
  return link.loss() ? !link.is_reported : link.has_come() || link.is_sending();
}

void UcxTransport::end_worker() {
  const Lock lock(worker_->mutex());
  const TimePoint until = clock_.now() + kEndLimit;
  for (const auto& each : links_) {
    each->lose(left(member_), Parting::kNone, {});
    each->close();
  }
  const auto has_ended = [](const auto& each) { return each->has_ended(); };
  const auto is_over = [&] {
    return std::all_of(links_.begin(), links_.end(), has_ended) && worker_->is_flushed();
  };
  while (!is_over() && clock_.now() < until) worker_->progress();
  for (const auto& each : links_) each->drop_incoming();
  worker_->destroy();
  sends_.forget_all();
}

}  // namespace cohort::ucx
