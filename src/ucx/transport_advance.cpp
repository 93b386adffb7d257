#include "ucx/transport.h"

#include <cstring>

namespace cohort::ucx {

using comm::Channel;
using comm::FrameHeader;

namespace {

// The interval at which a closing link is checked.
constexpr std::chrono::milliseconds kEndTick{2};

}  // namespace

bool UcxTransport::advance() {
  if (num_visitors_.load(std::memory_order_relaxed) != 0) return false;
  advancing_ = true;
  const bool moved = !closed_ && sink_ != nullptr && advance_all();
  advancing_ = false;
  advancing_.notify_all();
  return moved;
}

bool UcxTransport::advance_all() {
  Lock lock(worker_->mutex());
  bool moved = hand_over();
  moved = worker_->progress() || moved;
  for (const auto& each : links_) {
    while (deliver(*each, lock)) moved = true;
  }
  moved = hand_over() || moved;  // messages that the sink sent in reply
  moved = deliver_to_self(lock) || moved;
  moved = call_back(lock) || moved;
  TimePoint wanted = TimePoint::max();
  for (const auto& each : links_) {
    if (!each->loss()) continue;
    each->advance_end(clock_.now());
    if (each->is_reported) continue;
    moved = report(*each, lock) || moved;
    if (!each->is_reported) wanted = clock_.now() + kEndTick;
  }
  wanted_at_.store(wanted, std::memory_order_relaxed);
  return moved;
}

TimePoint UcxTransport::wanted_at() const {
  return wanted_at_.load(std::memory_order_relaxed);
}

bool UcxTransport::deliver(Link& link, Lock& lock) {
  const Incoming* const next = link.front();
  if (next == nullptr) return false;
  switch (next->state) {
    case Incoming::State::kWhole:
      deliver_whole(link, lock);
      return true;
    case Incoming::State::kOffered:
      if (link.loss()) return false;  // the sender is gone: nothing can be fetched
      begin_receive(link, lock);
      return true;
    case Incoming::State::kReceived: {
      const FrameHeader header = next->header;
      link.pop();
      lock.unlock();
      sink_.load()->arrived(link.member(), header);
      lock.lock();
      return true;
    }
    case Incoming::State::kReceiving:
    case Incoming::State::kFetching:
    case Incoming::State::kBroken:
      return false;
  }
  return false;
}

void UcxTransport::deliver_whole(Link& link, Lock& lock) {
  Incoming message = std::move(*link.front());
  link.pop();
  if (message.header.channel == Channel::kFarewell) {
    return link.lose(left(link.member()), Parting::kAnswer, clock_.now() + options_.withdraw_limit);
  }
  lock.unlock();
  const std::span<std::byte> room = sink_.load()->buffer_for(link.member(), message.header);
  if (!room.empty()) std::memcpy(room.data(), message.payload.data(), message.payload.size());
  sink_.load()->arrived(link.member(), message.header);
  lock.lock();
  link.release(message);
}

// Only this thread pops, so the message stays while the lock is released. If a group was withdrawn meanwhile,
// the buffer may be gone, so the sink is asked again.
void UcxTransport::begin_receive(Link& link, Lock& lock) {
  const FrameHeader header = link.front()->header;
  const std::uint64_t withdrawals_before = num_withdrawals_;
  lock.unlock();
  const std::span<std::byte> room = sink_.load()->buffer_for(link.member(), header);
  lock.lock();
  if (num_withdrawals_ == withdrawals_before && !link.loss()) link.receive(*link.front(), room);
}

bool UcxTransport::deliver_to_self(Lock& lock) {
  bool moved = false;
  while (!to_self_.empty()) {
    const FrameHeader header = to_self_.front().header;
    const std::uint64_t withdrawals_before = num_withdrawals_;
    lock.unlock();
    const std::span<std::byte> room = sink_.load()->buffer_for(member_, header);
    lock.lock();
    if (num_withdrawals_ != withdrawals_before) continue;
    Message message = std::move(to_self_.front());
    to_self_.pop_front();
    if (!room.empty()) std::memcpy(room.data(), message.payload.data(), room.size());
    sends_.finish(header, std::move(message.sent), {});
    lock.unlock();
    sink_.load()->arrived(member_, header);
    lock.lock();
    moved = true;
  }
  return moved;
}

bool UcxTransport::hand_over() {
  if (!has_queue_.load(std::memory_order_relaxed)) {
    return false;  // a thread that adds to the queue rings afterwards
  }
  take_queue();
  const bool moved = !batch_.empty();
  for (Message& message : batch_) {
    if (message.to == member_) {
      to_self_.push_back(std::move(message));
    } else {
      link(message.to).send(message.header, message.payload, std::move(message.sent));
    }
  }
  batch_.clear();
  return moved;
}

void UcxTransport::take_queue() {
  const std::lock_guard lock(mutex_);
  has_queue_ = false;
  std::swap(queue_, batch_);
  for (const GivenUp& each : given_up_) {
    link(each.member).lose(each.why, Parting::kAtOnce, clock_.now() + options_.withdraw_limit);
  }
  given_up_.clear();
}

bool UcxTransport::call_back(Lock& lock) {
  if (is_leaving_) sends_.forget_all();
  bool moved = false;
  while (sends_.has_finished()) {
    const Finished finished = sends_.take_finished();
    lock.unlock();
    finished.sent(finished.outcome);
    lock.lock();
    moved = true;
  }
  return moved;
}

bool UcxTransport::report(Link& link, Lock& lock) {
  if (!link.has_ended()) return false;
  while (deliver(link, lock)) continue;  // messages that arrived before the loss
  link.drop_incoming();
  link.is_reported = true;
  call_back(lock);
  lock.unlock();
  sink_.load()->lost(link.member(), *link.loss());
  lock.lock();
  return true;
}

}  // namespace cohort::ucx
