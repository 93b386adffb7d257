#include "comm/networks/loopback.h"

#include "base/check.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <utility>

namespace cohort::comm {
namespace {

using Sent = Transport::Sent;

struct Message {
  int from = 0;
  FrameHeader header{};
  std::span<const std::byte> payload{};
  Sent sent{};

  bool is_of(int member, std::uint32_t group, std::uint32_t generation) const {
    return from == member && header.group == group && header.generation <= generation;
  }
};

// A notice to a sender: its message was received, or failed.
struct Receipt {
  FrameHeader header{};
  Sent sent{};
  Status outcome{};
};

struct Loss {
  int member = 0;
  Error why;
};

// The queues of one member; guarded by the mutex of the wires.
struct Port {
  bool taken = false;
  bool closed = false;
  bool advancing = false;
  FrameSink* sink = nullptr;
  Doorbell* doorbell = nullptr;
  std::deque<Message> inbox{};
  std::deque<Receipt> receipts{};
  std::deque<Loss> losses{};
  std::vector<bool> is_cut{};        // by member: no traffic in either direction any more
  std::optional<Message> copying{};  // the message whose payload is being copied

  void ring() const {
    if (doorbell != nullptr) doorbell->ring();
  }
};

Error left(int member) {
  return Error(ErrorCode::kPeerLost, fmt::format("member {} has left", member));
}

}  // namespace

// The queues of all members, under one mutex, which is never held while a payload is copied or a callback
// runs.
class LoopbackWires {
 public:
  explicit LoopbackWires(int num_members) : ports_(static_cast<std::size_t>(num_members)) {
    for (Port& port : ports_) port.is_cut.resize(ports_.size());
  }

  int size() const { return static_cast<int>(ports_.size()); }

  void take(int member) {
    const std::lock_guard lock(mutex_);
    COHORT_CHECK(!at(member).taken, "member {} was taken twice", member);
    at(member).taken = true;
  }

  void open(int member, FrameSink& sink, Doorbell& doorbell) {
    const std::lock_guard lock(mutex_);
    Port& port = at(member);
    COHORT_CHECK(port.sink == nullptr, "member {} was opened twice", member);
    port.sink = &sink;
    port.doorbell = &doorbell;
    port.ring();
  }

  void send(int to, Message message) {
    const std::lock_guard lock(mutex_);
    Port& mine = at(message.from);
    if (mine.closed) return;
    if (mine.is_cut[static_cast<std::size_t>(to)]) {
      mine.receipts.push_back({message.header, std::move(message.sent), left(to)});
      mine.ring();
      return;
    }
    at(to).inbox.push_back(std::move(message));
    at(to).ring();
  }

  void withdraw(int member, std::uint32_t group, std::uint32_t generation) {
    std::unique_lock lock(mutex_);
    const auto is_of = [&](const Message& message) { return message.is_of(member, group, generation); };
    for (Port& port : ports_) std::erase_if(port.inbox, is_of);
    wait_until_not_copied(lock, is_of);
    std::erase_if(at(member).receipts, [&](const Receipt& receipt) {
      return receipt.header.group == group && receipt.header.generation <= generation;
    });
  }

  void give_up(int member, int other, const Error& why) {
    const std::lock_guard lock(mutex_);
    if (member != other) cut(member, other, why);
  }

  void close(int member) {
    std::unique_lock lock(mutex_);
    Port& port = at(member);
    if (port.closed) return;
    port.closed = true;
    for (int other = 0; other < size(); ++other) {
      if (other == member) continue;
      std::deque<Message> last = messages_to(other, member);
      cut(member, other, left(member));
      for (Message& message : last) at(other).inbox.push_back(std::move(message));
    }
    wait_until_not_copied(lock, [&](const Message& message) { return message.from == member; });
    changed_.wait(lock, [&] { return !port.advancing; });
    const Port old = std::exchange(
        port, Port{.taken = true, .closed = true, .is_cut = std::vector<bool>(ports_.size(), true)});
    lock.unlock();  // the mutex is not held while callbacks are destroyed
  }

  bool advance(int member) {
    Port& port = at(member);
    FrameSink* const sink = begin(port);
    if (sink == nullptr) return false;
    bool moved = false;
    for (int i = 0; i < kRounds && one_round(port, *sink); ++i) moved = true;
    const std::lock_guard lock(mutex_);
    port.advancing = false;
    changed_.notify_all();
    return moved;
  }

 private:
  static constexpr std::size_t kShortBytes = 4096;
  static constexpr int kRounds = 64;  // per advance(), so that other tasks get their turn

  Port& at(int member) { return ports_[static_cast<std::size_t>(member)]; }

  FrameSink* begin(Port& port) {
    const std::lock_guard lock(mutex_);
    if (port.closed || port.sink == nullptr) return nullptr;
    port.advancing = true;
    return port.sink;
  }

  bool one_round(Port& port, FrameSink& sink) {
    std::unique_lock lock(mutex_);
    if (port.closed) return false;
    if (!port.receipts.empty()) {
      const Receipt receipt = std::move(port.receipts.front());
      port.receipts.pop_front();
      lock.unlock();
      if (receipt.sent) receipt.sent(receipt.outcome);
      return true;
    }
    if (!port.losses.empty() && !has_message_from(port, port.losses.front().member)) {
      const Loss loss = std::move(port.losses.front());
      port.losses.pop_front();
      lock.unlock();
      sink.lost(loss.member, loss.why);
      return true;
    }
    if (port.inbox.empty()) return false;
    port.copying = std::move(port.inbox.front());
    port.inbox.pop_front();
    lock.unlock();
    deliver(port, sink);
    return true;
  }

  // Only this thread changes `copying`; other threads read it under the mutex.
  void deliver(Port& port, FrameSink& sink) {
    const Message& message = *port.copying;
    const int from = message.from;
    const FrameHeader header = message.header;
    const std::span<std::byte> room = sink.buffer_for(from, header);
    COHORT_CHECK(room.empty() || room.size() == message.payload.size());
    if (!room.empty()) std::memcpy(room.data(), message.payload.data(), room.size());
    {
      const std::lock_guard lock(mutex_);
      Port& sender = at(from);
      if (!sender.closed) sender.receipts.push_back({header, std::move(port.copying->sent), {}});
      port.copying.reset();
      sender.ring();
      changed_.notify_all();
    }
    sink.arrived(from, header);
  }

  template <class Predicate>
  void wait_until_not_copied(std::unique_lock<std::mutex>& lock, const Predicate& predicate) {
    changed_.wait(lock, [&] {
      for (const Port& port : ports_) {
        if (port.copying && predicate(*port.copying)) return false;
      }
      return true;
    });
  }

  static bool has_message_from(const Port& port, int member) {
    return std::any_of(port.inbox.begin(), port.inbox.end(),
                       [&](const Message& message) { return message.from == member; });
  }

  // The short messages that are on their way, with payloads of their own: the sender's memory may end.
  std::deque<Message> messages_to(int other, int member) {
    std::deque<Message> messages;
    for (const Message& message : at(other).inbox) {
      if (message.from != member || message.payload.size() > kShortBytes) continue;
      auto kept = std::make_shared<std::vector<std::byte>>(message.payload.begin(), message.payload.end());
      messages.push_back({message.from, message.header, *kept, [kept](const Status&) {}});
    }
    return messages;
  }

  // `why`: the error that both sides get.
  void cut(int member, int other, const Error& why) {
    cut_side(member, other, why);
    cut_side(other, member, why);
  }

  // Fails the messages in flight from `member` to `other`.
  void cut_side(int member, int other, const Error& why) {
    Port& port = at(member);
    if (port.is_cut[static_cast<std::size_t>(other)]) return;
    port.is_cut[static_cast<std::size_t>(other)] = true;
    std::deque<Message>& inbox = at(other).inbox;
    for (Message& message : inbox) {
      if (message.from == member) port.receipts.push_back({message.header, std::move(message.sent), why});
    }
    std::erase_if(inbox, [&](const Message& message) { return message.from == member; });
    port.losses.push_back({other, why});
    port.ring();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Port> ports_;
};

namespace {

class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(std::shared_ptr<LoopbackWires> wires, int member)
      : wires_(std::move(wires)), member_(member) {}
  ~LoopbackTransport() override { wires_->close(member_); }

  int member() const override { return member_; }
  int num_members() const override { return wires_->size(); }
  void open(FrameSink& sink, Doorbell& doorbell) override { wires_->open(member_, sink, doorbell); }
  void send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) override {
    COHORT_CHECK_EQ(header.size_bytes, payload.size());
    wires_->send(to, {member_, header, payload, std::move(sent)});
  }
  void withdraw(std::uint32_t group, std::uint32_t generation) override {
    wires_->withdraw(member_, group, generation);
  }
  void give_up(int member, const Error& why) override { wires_->give_up(member_, member, why); }
  void close() override { wires_->close(member_); }
  bool advance() override { return wires_->advance(member_); }

 private:
  const std::shared_ptr<LoopbackWires> wires_;
  const int member_;
};

}  // namespace

LoopbackNetwork::LoopbackNetwork(int num_members) : wires_(std::make_shared<LoopbackWires>(num_members)) {
  COHORT_CHECK_GE(num_members, 1);
}

int LoopbackNetwork::num_members() const {
  return wires_->size();
}

std::unique_ptr<Transport> LoopbackNetwork::take(int member) {
  wires_->take(member);
  return std::make_unique<LoopbackTransport>(wires_, member);
}

std::shared_ptr<LoopbackNetwork> make_loopback(int num_members) {
  return std::make_shared<LoopbackNetwork>(num_members);
}

}  // namespace cohort::comm
