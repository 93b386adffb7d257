#include "ucx/transport.h"

#include "base/check.h"
#include "ucx/doorbell.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::ucx {

using comm::Channel;
using comm::FrameHeader;
using namespace std::chrono_literals;

namespace {

// How soon a link that is ending is looked at again.
constexpr auto kEndTick = 2ms;
constexpr auto kEndLimit = 100ms;

bool is_of(const FrameHeader& header, std::uint32_t group, std::uint32_t generation) {
  return header.group == group && header.generation <= generation;
}

struct Nobody final : comm::FrameSink {
  std::span<std::byte> place(int, const FrameHeader&) override { return {}; }
  void arrived(int, const FrameHeader&) override {}
  void lost(int, const Error&) override {}
};

}  // namespace

UcxTransport::UcxTransport(std::shared_ptr<UcxWorker> worker, const UcxFacts& facts, Clock& clock,
                           const UcxOptions& options)
    : worker_(std::move(worker)), member_(facts.member), options_(options), clock_(clock) {
  for (int other = 0; other < static_cast<int>(facts.addresses.size()); ++other) {
    links_.push_back(std::make_unique<Link>(*worker_, sends_, member_, other));
  }
}

UcxTransport::~UcxTransport() {
  close();
}

Status UcxTransport::connect(const UcxFacts& facts) {
  const std::lock_guard lock(worker_->mutex());
  COHORT_RETURN_IF_ERROR(handle(kLongMessage, &UcxTransport::on_long));
  COHORT_RETURN_IF_ERROR(handle(kShortMessage, &UcxTransport::on_short));
  for (const auto& each : links_) {
    if (each->member() == member_) continue;
    COHORT_RETURN_IF_ERROR(each->connect(facts.addresses[static_cast<std::size_t>(each->member())]));
  }
  return {};
}

Status UcxTransport::handle(unsigned kind, ucp_am_recv_callback_t handler) {
  ucp_am_handler_param_t param{};
  param.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  param.id = kind;
  param.cb = handler;
  param.arg = this;
  const auto status = worker_->library().ucp_worker_set_am_recv_handler(worker_->handle(), &param);
  if (status != UCS_OK) return worker_->error("UCX takes no handler of messages", status);
  return {};
}

void UcxTransport::open(comm::FrameSink& sink, comm::Doorbell& doorbell) {
  const std::lock_guard lock(mutex_);
  sink_ = &sink;
  doorbell_ = &doorbell;
  doorbell.ring();
}

void UcxTransport::send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  COHORT_CHECK_EQ(header.size_bytes, payload.size());
  // At once if nobody is using UCX and nothing waits before it.
  const Lock worker_lock(worker_->mutex(), std::try_to_lock);
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (worker_lock.owns_lock() && sink_ != nullptr && to != member_ && !has_queue_) {
    link(to).send(header, payload, std::move(sent));
  } else {
    queue_.push_back({to, header, payload, std::move(sent)});
    has_queue_ = true;
  }
  if (doorbell_ != nullptr) doorbell_->ring();
}

void UcxTransport::give_up(int member, const Error& why) {
  const std::lock_guard lock(mutex_);
  if (member == member_ || closed_) return;
  given_up_.push_back({member, why});
  has_queue_ = true;
  if (doorbell_ != nullptr) doorbell_->ring();
}

ucs_status_t UcxTransport::on_long(void* self, const void* header, std::size_t header_bytes, void* data,
                                   std::size_t data_bytes, const ucp_am_recv_param_t* param) {
  const std::span payload(static_cast<const std::byte*>(data), data_bytes);
  return static_cast<UcxTransport*>(self)->take({static_cast<const std::byte*>(header), header_bytes},
                                                {data, payload, param->recv_attr});
}

ucs_status_t UcxTransport::on_short(void* self, const void*, std::size_t, void* data, std::size_t data_bytes,
                                    const ucp_am_recv_param_t* param) {
  const std::span all(static_cast<const std::byte*>(data), data_bytes);
  if (all.size() < kEnvelopeBytes || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK;
  return static_cast<UcxTransport*>(self)->take(all.first(kEnvelopeBytes),
                                                {data, all.subspan(kEnvelopeBytes), param->recv_attr});
}

// What is not one of ours is dropped.
ucs_status_t UcxTransport::take(std::span<const std::byte> header, const Parcel& parcel) {
  const auto envelope = decode_envelope(header);
  if (!envelope || envelope->from >= links_.size()) return UCS_OK;
  if (envelope->frame.size_bytes != parcel.payload.size()) return UCS_OK;
  return link(static_cast<int>(envelope->from)).take(*envelope, parcel);
}

// ----- advance -----

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
  moved = hand_over() || moved;  // what the sink answered
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
      if (link.loss()) return false;  // nobody is there to fetch it from
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
    return link.lose(left(link.member()), Parting::kAnswer, clock_.now() + options_.take_back_limit);
  }
  lock.unlock();
  const std::span<std::byte> room = sink_.load()->place(link.member(), message.header);
  if (!room.empty()) std::memcpy(room.data(), message.payload.data(), message.payload.size());
  sink_.load()->arrived(link.member(), message.header);
  lock.lock();
  link.release(message);
}

// Nobody else pops, so the message stays while the lock is given away. Whoever has taken back its group
// meanwhile has not waited for it: then the room may be gone, and is asked for again.
void UcxTransport::begin_receive(Link& link, Lock& lock) {
  const FrameHeader header = link.front()->header;
  const std::uint64_t withdrawals_before = num_withdrawals_;
  lock.unlock();
  const std::span<std::byte> room = sink_.load()->place(link.member(), header);
  lock.lock();
  if (num_withdrawals_ == withdrawals_before && !link.loss()) link.receive(*link.front(), room);
}

bool UcxTransport::deliver_to_self(Lock& lock) {
  bool moved = false;
  while (!to_self_.empty()) {
    const FrameHeader header = to_self_.front().header;
    const std::uint64_t withdrawals_before = num_withdrawals_;
    lock.unlock();
    const std::span<std::byte> room = sink_.load()->place(member_, header);
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
  if (!has_queue_.load(std::memory_order_relaxed)) return false;  // who adds to it rings afterwards
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
    link(each.member).lose(each.why, Parting::kAtOnce, clock_.now() + options_.take_back_limit);
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
  while (deliver(link, lock)) continue;  // what came before
  link.drop_incoming();
  link.is_reported = true;
  call_back(lock);
  lock.unlock();
  sink_.load()->lost(link.member(), *link.loss());
  lock.lock();
  return true;
}

// ----- taking back, and leaving -----

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
      if (each->member() != member_ && !each->loss()) each->say_farewell();
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
  while (!std::all_of(links_.begin(), links_.end(), has_ended) && clock_.now() < until) worker_->progress();
  for (const auto& each : links_) each->drop_incoming();
  worker_->destroy();
  sends_.forget_all();
}

}  // namespace cohort::ucx
