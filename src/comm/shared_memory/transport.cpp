#include "comm/shared_memory/transport.h"

#include "base/check.h"

#include <array>
#include <fmt/format.h>
#include <new>

namespace cohort::comm {
namespace {

// One byte after a payload tells whether the payload is complete or was withdrawn halfway.
constexpr std::byte kWhole{1};
constexpr std::byte kWithdrawn{0};

}  // namespace

SharedMemoryTransport::SharedMemoryTransport(Neighbours& neighbours)
    : neighbours_(neighbours), peers_(static_cast<std::size_t>(neighbours.size())) {}

SharedMemoryTransport::~SharedMemoryTransport() {
  close();
  // Peers may still read messages from the rings.
  if (!rings_.bytes().empty()) neighbours_.arena().retire(std::move(rings_));
}

void SharedMemoryTransport::open(FrameSink& sink, Doorbell& doorbell) {
  const std::lock_guard lock(mutex_);
  sink_ = &sink;
  doorbell_ = &doorbell;  // other processes ring the doorbell of the arena
}

Status SharedMemoryTransport::make_rings() {
  if (!rings_.bytes().empty()) return {};
  COHORT_ASSIGN_OR_RETURN(rings_, neighbours_.arena().allocate(sizeof(Ring) * peers_.size()));
  for (std::size_t i = 0; i < peers_.size(); ++i) new (rings_.bytes().data() + i * sizeof(Ring)) Ring;
  neighbours_.arena().header().rings.store(rings_.offset(), std::memory_order_release);
  return {};
}

Ring& SharedMemoryTransport::ring_to(int member) const {
  return *reinterpret_cast<Ring*>(rings_.bytes().data() + static_cast<std::size_t>(member) * sizeof(Ring));
}

void SharedMemoryTransport::send(int to, const FrameHeader& header, std::span<const std::byte> payload,
                                 Sent sent) {
  COHORT_CHECK_EQ(header.size_bytes, payload.size());
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    peer(to).outbox.push_back({header, payload, std::move(sent)});
    if (doorbell_ != nullptr) doorbell_->ring();
  }
}

void SharedMemoryTransport::withdraw(std::uint32_t group, std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) {
    const auto is_of = [&](const Outgoing& message) {
      return message.header.group == group && message.header.generation <= generation;
    };
    if (!peer.outbox.empty() && peer.outbox.front().num_put > 0 && is_of(peer.outbox.front())) {
      peer.outbox.front().withdrawn = true;
      peer.outbox.front().sent = {};
    }
    std::erase_if(peer.outbox, [&](const Outgoing& message) { return !message.withdrawn && is_of(message); });
  }
}

void SharedMemoryTransport::give_up(int member, const Error& why) {
  const std::lock_guard lock(mutex_);
  if (member == neighbours_.rank()) return;
  lose(peer(member), why);
  close_ring_to(member);
  if (doorbell_ != nullptr) doorbell_->ring();
  ring_now(neighbours_.header_of(member));
}

void SharedMemoryTransport::close() {
  std::unique_lock lock(mutex_);
  if (std::exchange(closed_, true)) return;
  advanced_.wait(lock, [&] { return !advancing_; });
  std::vector<Receipt> receipts;  // nobody waits for them any more
  for (int member = 0; member < num_members(); ++member) {
    (void)write_to(member, receipts);  // as much as fits into the ring, such as the report of a failure
    peer(member).outbox.clear();
    if (member == neighbours_.rank()) continue;
    close_ring_to(member);
    if (Ring* in = peer(member).in) in->refused.store(1, std::memory_order_release);
  }
}

/// Tells the peer through its ring that no more messages follow; the rings are made for that if nothing was
/// sent before. Without memory for rings, the peer learns of our end from its control socket.
void SharedMemoryTransport::close_ring_to(int member) {
  if (make_rings()) ring_to(member).closed.store(1, std::memory_order_release);
  ring_now(neighbours_.header_of(member));
}

bool SharedMemoryTransport::advance() {
  std::vector<Receipt> receipts;
  bool moved = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || sink_ == nullptr) return false;
    advancing_ = true;
    moved = notice_losses();
    for (int member = 0; member < num_members(); ++member) moved = write_to(member, receipts) || moved;
  }
  moved = deliver_to_self(receipts) || moved;
  for (int member = 0; member < num_members(); ++member) {
    if (member == neighbours_.rank()) continue;
    moved = read_from(member) || moved;
    moved = report(member, receipts) || moved;
  }
  for (const Receipt& receipt : receipts) {
    if (receipt.sent) receipt.sent(receipt.outcome);
  }
  const std::lock_guard lock(mutex_);
  advancing_ = false;
  advanced_.notify_all();
  return moved || !receipts.empty();
}

bool SharedMemoryTransport::notice_losses() {
  const int num_losses = neighbours_.num_losses();
  if (num_losses == losses_seen_) return false;
  losses_seen_ = num_losses;
  for (int member = 0; member < num_members(); ++member) {
    if (const std::optional<Error> why = neighbours_.loss_of(member)) lose(peer(member), *why);
  }
  return true;
}

void SharedMemoryTransport::lose(Peer& peer, const Error& why) {
  if (!peer.loss) peer.loss = why;
}

bool SharedMemoryTransport::write_to(int member, std::vector<Receipt>& receipts) {
  Peer& to = peer(member);
  if (to.outbox.empty() || member == neighbours_.rank()) return false;
  Status ready = to.loss ? Status(*to.loss) : make_rings();
  if (ready && ring_to(member).refused.load(std::memory_order_acquire) != 0) {
    ready = Error(ErrorCode::kPeerLost, fmt::format("rank {} has left", neighbours_.global_rank(member)));
  }
  if (!ready) {
    for (Outgoing& message : to.outbox) receipts.push_back({std::move(message.sent), ready});
    to.outbox.clear();
    return true;
  }
  bool moved = false;
  while (!to.outbox.empty()) {
    const std::size_t before = to.outbox.front().num_put;
    const bool complete = put(ring_to(member), to.outbox.front());
    moved = moved || to.outbox.front().num_put != before;
    if (!complete) break;
    receipts.push_back({std::move(to.outbox.front().sent), {}});
    to.outbox.pop_front();
  }
  if (moved) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    ring_if_asleep(neighbours_.header_of(member));
  }
  return moved;
}

bool SharedMemoryTransport::put(Ring& ring, Outgoing& message) {
  if (message.num_put < kFrameHeaderBytes) {
    std::array<std::byte, kFrameHeaderBytes> head{};
    encode(message.header, head);
    message.num_put += ring.put(std::span(head).subspan(message.num_put));
    if (message.num_put < kFrameHeaderBytes) return false;
  }
  if (message.payload.empty()) return true;
  if (!put_payload(ring, message)) return false;
  const std::byte seal = message.withdrawn ? kWithdrawn : kWhole;
  const std::size_t length = ring.put({&seal, 1});
  message.num_put += length;
  return length == 1;
}

bool SharedMemoryTransport::put_payload(Ring& ring, Outgoing& message) {
  constexpr std::array<std::byte, 4096> kZeros{};
  while (message.num_put < kFrameHeaderBytes + message.payload.size()) {
    std::span<const std::byte> rest = message.payload.subspan(message.num_put - kFrameHeaderBytes);
    if (message.withdrawn) rest = std::span(kZeros).first(std::min(rest.size(), kZeros.size()));
    const std::size_t length = ring.put(rest);
    message.num_put += length;
    if (length == 0) return false;
  }
  return true;
}

bool SharedMemoryTransport::deliver_to_self(std::vector<Receipt>& receipts) {
  Peer& self = peer(neighbours_.rank());
  bool moved = false;
  while (true) {
    Outgoing message;
    {
      const std::lock_guard lock(mutex_);
      if (self.outbox.empty()) return moved;
      message = std::move(self.outbox.front());
      self.outbox.pop_front();
    }
    const std::span<std::byte> room = sink_->buffer_for(neighbours_.rank(), message.header);
    if (!room.empty()) std::memcpy(room.data(), message.payload.data(), room.size());
    sink_->arrived(neighbours_.rank(), message.header);
    receipts.push_back({std::move(message.sent), {}});
    moved = true;
  }
}

bool SharedMemoryTransport::read_from(int member) {
  Peer& from = peer(member);
  if (from.reported) return false;
  if (from.in == nullptr) {
    const std::uint64_t offset = neighbours_.header_of(member).rings.load(std::memory_order_acquire);
    if (offset == 0 || offset > neighbours_.memory_bytes_of(member) - sizeof(Ring) * peers_.size()) {
      return false;
    }
    from.in = reinterpret_cast<Ring*>(neighbours_.memory_of(member) + offset +
                                      static_cast<std::size_t>(neighbours_.rank()) * sizeof(Ring));
  }
  bool moved = false;
  while (true) {
    if (!from.incoming.header) {
      if (from.in->available() < kFrameHeaderBytes) break;
      std::array<std::byte, kFrameHeaderBytes> head{};
      from.in->take(head.data(), head.size());
      const Result<FrameHeader> header = decode_frame_header(head);
      if (!header) {
        const std::lock_guard lock(mutex_);
        lose(from,
             header.error().within(fmt::format("message from rank {}", neighbours_.global_rank(member))));
        return true;
      }
      from.incoming = {*header, 0};
      moved = true;
    }
    if (!take_payload(member, from)) break;
    moved = true;
  }
  if (moved) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    ring_if_asleep(neighbours_.header_of(member));
  }
  return moved;
}

/// Reads more of the current message. True once the message is complete.
bool SharedMemoryTransport::take_payload(int member, Peer& from) {
  Incoming& incoming = from.incoming;
  const FrameHeader header = *incoming.header;
  const std::span<std::byte> room = sink_->buffer_for(member, header);
  while (incoming.num_taken < header.size_bytes) {
    std::byte* into = room.empty() ? nullptr : room.data() + incoming.num_taken;
    const std::size_t taken = from.in->take(into, header.size_bytes - incoming.num_taken);
    if (taken == 0) return false;
    incoming.num_taken += taken;
    // The writer may be waiting for free space.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    ring_if_asleep(neighbours_.header_of(member));
  }
  std::byte seal = kWhole;
  if (header.size_bytes > 0 && from.in->take(&seal, 1) == 0) return false;
  incoming = {};
  seal == kWhole ? sink_->arrived(member, header) : sink_->withdrawn(member, header);
  return true;
}

bool SharedMemoryTransport::report(int member, std::vector<Receipt>& receipts) {
  Peer& other = peer(member);
  if (other.reported) return false;
  std::optional<Error> why;
  {
    const std::lock_guard lock(mutex_);
    if (!other.loss && other.in != nullptr && other.in->closed.load(std::memory_order_acquire) != 0 &&
        other.in->available() < (other.incoming.header ? 1 : kFrameHeaderBytes)) {
      lose(other,
           Error(ErrorCode::kPeerLost, fmt::format("rank {} has left", neighbours_.global_rank(member))));
    }
    if (!other.loss) return false;
    why = other.loss;
    for (Outgoing& message : other.outbox) receipts.push_back({std::move(message.sent), *why});
    other.outbox.clear();
  }
  other.reported = true;
  sink_->lost(member, *why);
  return true;
}

}  // namespace cohort::comm
