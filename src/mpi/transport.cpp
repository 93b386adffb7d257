#include "mpi/transport.h"

#include "base/check.h"
#include "comm/numbers/copy.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::mpi {
namespace {

constexpr int kRounds = 64;                        // of one advance(), so that other tasks get their turn
constexpr std::int64_t kLongestPause = 5'000'000;  // nanoseconds
constexpr std::int64_t kShareOfPause = 8;  // pause = idle time / 8: a message is noticed at most 1/8 later
constexpr int kStranger = -1;

std::int64_t nanoseconds_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

Error gone(int member, std::string_view why) {
  return Error(ErrorCode::kPeerLost, fmt::format("rank {} {}", member, why));
}

}  // namespace

MpiTransport::MpiTransport(Facts facts)
    : facts_(std::move(facts)),
      members_(static_cast<std::size_t>(facts_.library->size()), kStranger),
      is_lost_(facts_.world_ranks.size(), false),
      inbound_(facts_.world_ranks.size()) {
  for (int m = 0; m < num_members(); ++m) {
    members_[static_cast<std::size_t>(facts_.world_ranks[static_cast<std::size_t>(m)])] = m;
  }
  moved_at_ = nanoseconds_now();
}

void MpiTransport::open(comm::FrameSink& sink, comm::Doorbell& doorbell) {
  const std::lock_guard lock(mutex_);
  sink_ = &sink;
  doorbell_ = &doorbell;
}

void MpiTransport::stir() {
  moved_at_ = nanoseconds_now();
  look_at_ = 0;
}

void MpiTransport::send(int to, const comm::FrameHeader& header, std::span<const std::byte> payload,
                        Sent sent) {
  COHORT_CHECK_EQ(header.size_bytes, payload.size());
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    post(to, header, payload, std::move(sent));
  }
  stir();
  doorbell_->ring();
}

void MpiTransport::post(int to, const comm::FrameHeader& header, std::span<const std::byte> payload,
                        Sent sent) {
  if (is_lost_[static_cast<std::size_t>(to)]) {
    receipts_.push_back({std::move(sent), gone(to, "is lost")});
    return;
  }
  const Outbound::Address address{to, facts_.world_ranks[static_cast<std::size_t>(to)], facts_.tag};
  auto frame = std::make_shared<Outbound>(address, header, payload, std::move(sent));
  if (const int code = frame->begin(*facts_.library); code != 0) {
    receipts_.push_back(
        {frame->take_sent(), facts_.library->error(code, "cannot send a message (MPI_Isend)")});
    if (!frame->is_through()) facts_.library->keep(std::move(frame));
    return;
  }
  outbound_.push_back(std::move(frame));
}

void MpiTransport::withdraw(std::uint32_t group, std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  for (const auto& frame : outbound_) {
    if (frame->header().group == group && frame->header().generation <= generation) frame->withdraw();
  }
}

void MpiTransport::give_up(int member, const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || is_lost_[static_cast<std::size_t>(member)]) return;
    post(member, {.channel = comm::Channel::kFarewell}, {}, nullptr);
    mark_lost(member, why);
  }
  stir();
  doorbell_->ring();
}

void MpiTransport::mark_lost(int member, const Error& why) {
  if (is_lost_[static_cast<std::size_t>(member)]) return;
  is_lost_[static_cast<std::size_t>(member)] = true;
  losses_.push_back({member, why});
  for (const auto& frame : outbound_) {
    if (frame->to() == member) receipts_.push_back({frame->take_sent(), why});
  }
}

void MpiTransport::close() {
  const std::lock_guard advance_lock(advance_mutex_);
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  for (int m = 0; m < num_members(); ++m) {
    if (m != facts_.member) post(m, {.channel = comm::Channel::kFarewell}, {}, nullptr);
  }
  for (const auto& frame : outbound_) {
    frame->withdraw();
    frame->test(*facts_.library);
    if (!frame->is_through()) facts_.library->keep(frame);
  }
  outbound_.clear();
  receipts_.clear();
  for (Inbound& inbound : inbound_) inbound.abandon(*facts_.library);
}

TimePoint MpiTransport::wanted_at() const {
  const std::lock_guard lock(mutex_);
  if (closed_ || sink_ == nullptr) return TimePoint::max();
  return TimePoint(std::chrono::nanoseconds(look_at_.load()));
}

bool MpiTransport::advance() {
  const std::lock_guard advance_lock(advance_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || sink_ == nullptr) return false;
  }
  const std::int64_t now = nanoseconds_now();
  if (now < look_at_) return false;
  bool moved = false;
  for (int i = 0; i < kRounds && look_around(); ++i) moved = true;
  if (moved) moved_at_ = now;
  look_at_ = now + std::min(kLongestPause, (now - moved_at_) / kShareOfPause);
  return moved;
}

bool MpiTransport::look_around() {
  if (facts_.library->num_looks() != num_looks_) note_losses();
  {
    const std::lock_guard lock(mutex_);
    take_sent();
  }
  return tell_receipts() || receive() || tell_losses();
}

void MpiTransport::take_sent() {
  for (const auto& frame : outbound_) {
    const int code = frame->test(*facts_.library);
    if (code == 0 && !frame->is_through()) continue;
    Status outcome = facts_.library->status(code, "cannot send a message (MPI_Isend)");
    receipts_.push_back({frame->take_sent(), std::move(outcome)});
  }
  std::erase_if(outbound_, [](const auto& frame) { return frame->is_through(); });
}

bool MpiTransport::tell_receipts() {
  std::deque<Receipt> receipts;
  {
    const std::lock_guard lock(mutex_);
    receipts.swap(receipts_);
  }
  for (const Receipt& receipt : receipts) {
    if (receipt.sent) receipt.sent(receipt.outcome);
  }
  return !receipts.empty();
}

bool MpiTransport::tell_losses() {
  std::deque<Loss> losses;
  {
    const std::lock_guard lock(mutex_);
    losses.swap(losses_);
  }
  for (const Loss& loss : losses) sink_->lost(loss.member, loss.why);
  return !losses.empty();
}

bool MpiTransport::is_lost(int member) const {
  const std::lock_guard lock(mutex_);
  return is_lost_[static_cast<std::size_t>(member)];
}

bool MpiTransport::receive() {
  bool moved = find_header();
  for (int m = 0; m < num_members(); ++m) {
    if (inbound_[static_cast<std::size_t>(m)].state() != Inbound::State::kIdle) moved = take_in(m) || moved;
  }
  return moved;
}

// While the payload of a member is being received, its next header stays queued in MPI; it must not hide the
// headers of other members.
bool MpiTransport::find_header() {
  const Library& library = *facts_.library;
  int from = COHORT_MPI_ANY_SOURCE;
  int size_bytes = 0;
  int is_there = 0;
  note_code(library.shim().probe(library.messages(), facts_.tag, &from, &size_bytes, &is_there));
  if (is_there == 0) return false;
  if (begin_header(members_[static_cast<std::size_t>(from)], size_bytes)) return true;
  bool found = false;
  for (int m = 0; m < num_members(); ++m) {
    from = facts_.world_ranks[static_cast<std::size_t>(m)];
    note_code(library.shim().probe(library.messages(), facts_.tag, &from, &size_bytes, &is_there));
    if (is_there != 0) found = begin_header(m, size_bytes) || found;
  }
  return found;
}

bool MpiTransport::begin_header(int member, int size_bytes) {
  Inbound& inbound = inbound_[static_cast<std::size_t>(member)];
  if (inbound.state() != Inbound::State::kIdle) return false;
  const Inbound::Source source{facts_.world_ranks[static_cast<std::size_t>(member)], facts_.tag};
  note_code(inbound.begin(*facts_.library, source, size_bytes));
  return true;
}

bool MpiTransport::take_in(int member) {
  Inbound& inbound = inbound_[static_cast<std::size_t>(member)];
  const int code = inbound.advance(*facts_.library);
  note_code(code);
  if (code != 0) {
    const std::lock_guard lock(mutex_);
    mark_lost(member, facts_.library->error(code, "cannot receive a message (MPI_Irecv)"));
    inbound.abandon(*facts_.library);
    return true;
  }
  if (inbound.state() != Inbound::State::kComplete) return false;
  const Result<comm::FrameHeader> header = inbound.header();
  if (is_lost(member)) {
    inbound.reset();
  } else if (!header || header->channel == comm::Channel::kFarewell) {
    const std::lock_guard lock(mutex_);
    mark_lost(member, header ? gone(member, "has left") : header.error());
    inbound.reset();
  } else {
    const std::span<std::byte> room = sink_->buffer_for(member, *header);
    const std::span<const std::byte> payload = inbound.payload();
    if (!room.empty()) comm::copy_bytes(room.data(), payload.data(), payload.size());
    inbound.reset();
    sink_->arrived(member, *header);
  }
  return true;
}

void MpiTransport::note_code(int code) {
  if (facts_.library->shim().error_kind(code) == kCohortMpiPeerLost) facts_.library->look_for_losses();
}

void MpiTransport::note_losses() {
  num_looks_ = facts_.library->num_looks();
  const std::lock_guard lock(mutex_);
  for (const int world_rank : facts_.library->lost_ranks()) {
    const int member = members_[static_cast<std::size_t>(world_rank)];
    if (member != kStranger) mark_lost(member, gone(member, "has ended"));
  }
}

}  // namespace cohort::mpi
