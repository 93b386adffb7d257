#include "base/check.h"
#include "ucx/doorbell.h"
#include "ucx/transport.h"

#include <algorithm>
#include <fmt/format.h>

// Taking back, and leaving.

namespace cohort::ucx {

using comm::FrameHeader;

namespace {

// How long UCX may take to end what is in flight when its endpoints are closed.
constexpr std::chrono::milliseconds kEndLimit{100};
constexpr std::chrono::seconds kLetGoLimit{10};

bool is_of(const FrameHeader& header, std::uint32_t group, std::uint32_t generation) {
  return header.group == group && header.generation <= generation;
}

struct Nobody final : comm::FrameSink {
  std::span<std::byte> place(int, const FrameHeader&) override { return {}; }
  void arrived(int, const FrameHeader&) override {}
  void taken_back(int, const FrameHeader&) override {}
  void lost(int, const Error&) override {}
};

}  // namespace

void UcxTransport::withdraw(std::uint32_t group, std::uint32_t generation) {
  num_visitors_.fetch_add(1);
  const Lock lock(worker_->mutex());
  num_visitors_.fetch_sub(1);
  const auto is_over = [&](const Message& message) { return is_of(message.header, group, generation); };
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

// The other side takes what is on its way, wanted or not, as long as it goes on at all. It may be waiting in
// the same way for us, so whatever anybody offers is taken meanwhile.
void UcxTransport::settle(Link& link, std::uint32_t group, std::uint32_t generation) {
  const TimePoint until = clock_.now() + options_.take_back_limit;
  while (link.uses(group, generation)) {
    if (clock_.now() >= until) {
      link.lose(Error(ErrorCode::kPeerLost,
                      fmt::format("member {} does not take what is on its way to it", link.member())),
                Parting::kAtOnce, until);
    }
    COHORT_CHECK(clock_.now() < until + kLetGoLimit, "UCX does not let go of memory it was given");
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

// Short messages are called back before they are out, so whoever leaves has to see them off. The others
// answer when they have all of it. What comes in meanwhile is nobody's any more.
void UcxTransport::linger() {
  Nobody nobody;
  sink_ = &nobody;
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
