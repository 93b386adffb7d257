#include "comm/networks/faulty.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace cohort::comm {
namespace {

constexpr std::uint64_t kStream = 0x7472616e73706f72;
constexpr std::uint64_t kMostPieces = 5;

std::size_t boundary(std::size_t size_bytes, std::size_t piece, std::size_t num_pieces) {
  return size_bytes / num_pieces * piece + std::min(size_bytes % num_pieces, piece);
}

}  // namespace

FaultyTransport::FaultyTransport(std::unique_ptr<Transport> inner, TransportFaults faults)
    : inner_(std::move(inner)),
      faults_(faults),
      random_(RandomStream(faults.seed, kStream).substream(static_cast<std::uint64_t>(inner_->member()))),
      rooms_(static_cast<std::size_t>(inner_->num_members())),
      queues_(rooms_.size()),
      is_told_(rooms_.size()) {}

void FaultyTransport::open(FrameSink& sink, Doorbell& doorbell) {
  {
    const std::lock_guard lock(advance_mutex_);
    sink_ = &sink;
  }
  inner_->open(*this, doorbell);
}

void FaultyTransport::send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  // Message number die_at is not sent.
  if (const std::uint64_t number = num_sent_++; faults_.die_at && number >= *faults_.die_at) return;
  inner_->send(to, header, payload, std::move(sent));
}

void FaultyTransport::close() {
  closed_ = true;
  const std::lock_guard lock(advance_mutex_);
  inner_->close();
}

bool FaultyTransport::advance() {
  if (closed_) return false;
  const std::lock_guard lock(advance_mutex_);
  if (sink_ == nullptr || dead_) return false;
  const std::uint64_t num_sent = num_sent_;
  if (faults_.freeze_at && num_sent >= *faults_.freeze_at) return false;
  if (faults_.die_at && num_sent >= *faults_.die_at) {
    die();
    return true;
  }
  bool moved = inner_->advance();
  for (int from = 0; from < num_members(); ++from) moved = deliver_front(from) || moved;
  return moved;
}

void FaultyTransport::die() {
  dead_ = true;
  inner_->close();
  for (int other = 0; other < num_members(); ++other) {
    if (other == member()) continue;
    auto& queue = queues_[static_cast<std::size_t>(other)];
    queue.clear();
    tell_loss(other, Error(ErrorCode::kPeerLost, fmt::format("member {} was made to die", member())));
  }
}

void FaultyTransport::tell_loss(int member, const Error& why) {
  bool& is_told = is_told_[static_cast<std::size_t>(member)];
  if (!std::exchange(is_told, true)) sink_->lost(member, why);
}

// Advances the front of the queue by one step; false if the queue is empty.
bool FaultyTransport::deliver_front(int from) {
  auto& queue = queues_[static_cast<std::size_t>(from)];
  if (queue.empty()) return false;
  Incoming& front = queue.front();
  if (front.hold > 0) {
    --front.hold;
    return true;
  }
  if (front.loss) {
    const Error why = *front.loss;
    queue.pop_front();
    tell_loss(from, why);
    return true;
  }
  const std::size_t first = boundary(front.payload->size(), front.next_piece, front.num_pieces);
  const std::size_t last = boundary(front.payload->size(), front.next_piece + 1, front.num_pieces);
  const std::span<std::byte> room = sink_->buffer_for(from, front.header);
  COHORT_CHECK(room.empty() || room.size() == front.payload->size());
  if (!room.empty() && last > first) {
    std::memcpy(room.data() + first, front.payload->data() + first, last - first);
  }
  if (++front.next_piece < front.num_pieces) return true;
  const FrameHeader header = front.header;
  queue.pop_front();
  sink_->arrived(from, header);
  return true;
}

std::span<std::byte> FaultyTransport::buffer_for(int from, const FrameHeader& header) {
  auto& room = rooms_[static_cast<std::size_t>(from)];
  room.resize(header.size_bytes);
  return room;
}

void FaultyTransport::arrived(int from, const FrameHeader& header) {
  auto& room = rooms_[static_cast<std::size_t>(from)];
  Incoming incoming = {.header = header,
                       .payload = std::make_shared<std::vector<std::byte>>(std::exchange(room, {}))};
  const auto delay = static_cast<std::uint64_t>(std::max(faults_.delay_advances, 1));
  if (happens(faults_.delay)) incoming.hold = static_cast<int>(1 + below(delay));
  if (happens(faults_.split)) incoming.num_pieces = 2 + below(kMostPieces - 1);
  auto& queue = queues_[static_cast<std::size_t>(from)];
  queue.push_back(incoming);
  if (happens(faults_.repeat)) queue.push_back(incoming);
}

void FaultyTransport::withdrawn(int from, const FrameHeader& header) {
  (void)header;  // no byte of this message was passed to the sink
  rooms_[static_cast<std::size_t>(from)].clear();
}

void FaultyTransport::lost(int member, const Error& why) {
  // Queued behind the messages that arrived before the loss.
  queues_[static_cast<std::size_t>(member)].push_back({.loss = why});
}

}  // namespace cohort::comm
