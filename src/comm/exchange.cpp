#include "comm/exchange.h"

#include "base/check.h"
#include "base/units.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace cohort::comm {
namespace {

constexpr std::uint64_t kQuestion = 1;  // number of a kAlive message that wants an answer
constexpr std::uint64_t kSign = 0;

Error stale(const FrameHeader& header) {
  return Error(ErrorCode::kStale,
               fmt::format("generation {} of group {} is over", header.generation, header.group));
}

// What waited for a lost member hears kPeerLost, whatever made it lost.
Error as_loss(int member, const Error& why) {
  if (why.code() == ErrorCode::kPeerLost) return why;
  return Error(ErrorCode::kPeerLost, fmt::format("member {} is lost: {}", member, why.text()));
}

}  // namespace

Exchange::Exchange(std::unique_ptr<Transport> transport, Clock& clock, Options options)
    : transport_(std::move(transport)),
      clock_(clock),
      options_(options),
      peers_(static_cast<std::size_t>(transport_->num_members())),
      matching_(transport_->num_members()),
      silence_(transport_->num_members(), options.liveness) {}

void Exchange::open(Doorbell& doorbell) {
  {
    const std::lock_guard lock(mutex_);
    COHORT_CHECK(doorbell_ == nullptr, "the exchange is open already");
    doorbell_ = &doorbell;
  }
  transport_->open(*this, doorbell);
}

void Exchange::send(int to, FrameHeader header, std::span<const std::byte> payload, Done done) {
  COHORT_CHECK(to >= 0 && to < num_members(), "there is no member {}", to);
  header.size_bytes = payload.size();
  const std::lock_guard lock(send_mutex_);
  header.sequence = ++peer(to).num_sent;
  transport_->send(to, header, payload, std::move(done));
}

void Exchange::receive(int from, const FrameHeader& header, std::span<std::byte> into, Done done) {
  COHORT_CHECK(from >= 0 && from < num_members(), "there is no member {}", from);
  const std::lock_guard lock(mutex_);
  if (is_stale(header)) {
    return make_ready(header, [done = std::move(done), error = stale(header)] { done(error); });
  }
  const MatchKey key = MatchKey::of(from, header);
  Receive receive = {header.signature, into, std::move(done)};
  if (std::optional<KeptMessage> message = matching_.take_message(key)) {
    return meet(std::move(*message), std::move(receive));
  }
  if (const std::optional<Error>& loss = peer(from).loss) {
    return make_ready(header, [done = std::move(receive.done), error = *loss] { done(error); });
  }
  matching_.add(key, std::move(receive));
}

void Exchange::cancel(std::uint32_t group, std::uint32_t generation) {
  {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = cancelled_.try_emplace(group, generation);
    place->second = std::max(place->second, generation);
    forget(group, generation);
  }
  transport_->withdraw(group, generation);
  wait_for_advance();
}

void Exchange::handle(Channel channel, std::uint32_t group, Handler handler) {
  const std::lock_guard lock(mutex_);
  handlers_[{channel, group}] = std::move(handler);
  for (KeptMessage& message : matching_.take_messages_of(channel, group)) hand_over(std::move(message));
}

void Exchange::hand_over(KeptMessage message) {
  const FrameHeader header = message.header;
  make_ready(header, [this, shared = std::make_shared<KeptMessage>(std::move(message))] {
    run_handler(std::move(*shared));
  });
}

// Whatever handler there is when its turn comes.
void Exchange::run_handler(KeptMessage message) {
  Handler handler;
  {
    const std::lock_guard lock(mutex_);
    const auto found = handlers_.find({message.header.channel, message.header.group});
    if (found != handlers_.end()) handler = found->second;
  }
  if (handler) handler(message.from, message.header, std::move(message.payload));
}

void Exchange::remove_handler(Channel channel, std::uint32_t group) {
  {
    const std::lock_guard lock(mutex_);
    handlers_.erase({channel, group});
  }
  wait_for_advance();
}

int Exchange::on_loss(LossHandler handler) {
  const std::lock_guard lock(mutex_);
  const int id = next_loss_handler_++;
  for (int member = 0; member < num_members(); ++member) {
    if (!peer(member).loss) continue;
    ready_.push_back({{}, {}, [this, id, member] { tell_loss(id, member); }});
  }
  loss_handlers_.emplace(id, std::move(handler));
  if (doorbell_ != nullptr) doorbell_->ring();
  return id;
}

void Exchange::tell_loss(int id, int member) {
  LossHandler handler;
  {
    const std::lock_guard lock(mutex_);
    const auto found = loss_handlers_.find(id);
    if (found != loss_handlers_.end()) handler = found->second;
  }
  if (handler) handler(member, *loss(member));
}

void Exchange::remove_loss_handler(int id) {
  {
    const std::lock_guard lock(mutex_);
    loss_handlers_.erase(id);
  }
  wait_for_advance();
}

void Exchange::watch() {
  const std::lock_guard lock(mutex_);
  silence_.start(clock_.now());
  if (doorbell_ != nullptr) doorbell_->ring();
}

void Exchange::unwatch() {
  const std::lock_guard lock(mutex_);
  silence_.stop();
}

bool Exchange::advance() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || doorbell_ == nullptr) return false;
    advancing_ = std::this_thread::get_id();
  }
  bool moved = run_ready();
  moved = transport_->advance() || moved;
  moved = judge_silence() || moved;
  const std::lock_guard lock(mutex_);
  advancing_ = {};
  ++num_advances_;
  advanced_.notify_all();
  return moved;
}

TimePoint Exchange::wanted_at() const {
  const std::lock_guard lock(mutex_);
  if (!ready_.empty()) return clock_.now();
  return std::min(transport_->wanted_at(), silence_.next_tick());
}

void Exchange::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
  }
  wait_for_advance();
  transport_->close();
  const std::lock_guard lock(mutex_);
  ready_.clear();
  matching_.clear();
  doorbell_ = nullptr;
}

// From another thread than the one that advances: whatever the advance() that runs is in the middle of is
// over.
void Exchange::wait_for_advance() {
  std::unique_lock lock(mutex_);
  if (advancing_ == std::thread::id{} || advancing_ == std::this_thread::get_id()) return;
  const std::uint64_t running = num_advances_;
  advanced_.wait(lock, [&] { return num_advances_ != running; });
}

bool Exchange::is_stale(const FrameHeader& header) const {
  const auto found = cancelled_.find(header.group);
  return found != cancelled_.end() && header.generation <= found->second;
}

void Exchange::make_ready(const FrameHeader& header, std::function<void()> run) {
  ready_.push_back({header.group, header.generation, std::move(run)});
  if (doorbell_ != nullptr) doorbell_->ring();
}

void Exchange::meet(KeptMessage message, Receive receive) {
  const Status status = comm::fits(message.from, message.header, receive);
  make_ready(message.header,
             [status, payload = std::make_shared<std::vector<std::byte>>(std::move(message.payload)),
              receive = std::move(receive)] {
               if (status && !payload->empty()) {
                 std::memcpy(receive.into.data(), payload->data(), payload->size());
               }
               receive.done(status);
             });
}

void Exchange::forget(std::uint32_t group, std::uint32_t generation) {
  const auto is_over = [&](const auto& thing) {
    return thing.group == group && thing.generation <= generation;
  };
  matching_.forget(group, generation);
  std::erase_if(ready_, is_over);
  for (Peer& other : peers_) {
    // What has begun to come in comes in for nobody. Its room stays: the transport may be writing there.
    if (other.inbound && is_over(other.inbound->header)) {
      other.inbound->fate = Fate::kIgnore;
      other.inbound->receive = {};
    }
  }
}

std::span<std::byte> Exchange::place(int from, const FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  silence_.heard(from);
  Peer& sender = peer(from);
  if (!sender.inbound || sender.inbound->header.sequence != header.sequence) {
    sender.inbound = begin_inbound(from, header);
  }
  Inbound& inbound = *sender.inbound;
  if (inbound.fate == Fate::kReceive && inbound.fits) return inbound.receive.into;
  if (inbound.fate == Fate::kReceive || inbound.fate == Fate::kIgnore) return {};
  inbound.payload.resize(header.size_bytes);
  return inbound.payload;
}

Exchange::Inbound Exchange::begin_inbound(int from, const FrameHeader& header) {
  Peer& sender = peer(from);
  Inbound inbound = {.header = header};
  if (header.sequence <= sender.last_sequence || is_stale(header)) return inbound;
  sender.last_sequence = header.sequence;
  if (header.channel == Channel::kAlive || sender.loss) return inbound;
  if (std::optional<Receive> receive = matching_.take_receive(MatchKey::of(from, header))) {
    inbound.fate = Fate::kReceive;
    inbound.fits = comm::fits(from, header, *receive);
    inbound.receive = std::move(*receive);
    return inbound;
  }
  // Checked before anything is allocated.
  if (header.size_bytes > options_.unexpected_cap_bytes - matching_.kept_bytes(from)) {
    give_up_flood(from);
    return inbound;
  }
  inbound.fate = Fate::kKeep;
  return inbound;
}

void Exchange::arrived(int from, const FrameHeader& header) {
  Inbound inbound;
  {
    const std::lock_guard lock(mutex_);
    silence_.heard(from);
    Peer& sender = peer(from);
    COHORT_CHECK(sender.inbound && sender.inbound->header.sequence == header.sequence);
    inbound = std::move(*sender.inbound);
    sender.inbound.reset();
    const bool has_handler = handlers_.contains({header.channel, header.group});
    if (inbound.fate == Fate::kKeep && !has_handler) {
      return keep({from, inbound.header, std::move(inbound.payload)});
    }
  }
  finish(from, std::move(inbound));
}

void Exchange::taken_back(int from, const FrameHeader& header) {
  Inbound inbound;
  {
    const std::lock_guard lock(mutex_);
    Peer& sender = peer(from);
    COHORT_CHECK(sender.inbound && sender.inbound->header.sequence == header.sequence);
    inbound = std::move(*sender.inbound);
    sender.inbound.reset();
    if (inbound.fate == Fate::kKeep) {
      // It may have been asked for while it came in.
      auto receive = matching_.take_receive(MatchKey::of(from, header));
      if (!receive) return;
      inbound.receive = std::move(*receive);
    }
  }
  if (inbound.fate == Fate::kIgnore) return;
  inbound.receive.done(
      Error(ErrorCode::kAborted, fmt::format("member {} took back what it was sending", from)));
}

void Exchange::keep(KeptMessage message) {
  // It may have been asked for while it came in.
  const MatchKey key = MatchKey::of(message.from, message.header);
  if (std::optional<Receive> receive = matching_.take_receive(key)) {
    return meet(std::move(message), std::move(*receive));
  }
  matching_.add(std::move(message));
}

void Exchange::give_up_flood(int from) {
  transport_->give_up(from, Error(ErrorCode::kPeerLost,
                                  fmt::format("member {} sent more than {} that nobody here has asked for",
                                              from, format_bytes(options_.unexpected_cap_bytes))));
}

void Exchange::finish(int from, Inbound inbound) {
  const FrameHeader& header = inbound.header;
  if (inbound.fate == Fate::kReceive) {
    inbound.receive.done(inbound.fits);
  } else if (inbound.fate == Fate::kKeep) {
    run_ready();  // those that waited for their handler come first
    run_handler({from, header, std::move(inbound.payload)});
  } else if (header.channel == Channel::kAlive && header.number == kQuestion) {
    send(from, {.channel = Channel::kAlive, .number = kSign}, {}, {});
  }
}

void Exchange::lost(int member, const Error& why) {
  const Error error = as_loss(member, why);
  std::vector<Receive> receives;
  std::map<int, LossHandler> handlers;
  {
    const std::lock_guard lock(mutex_);
    if (peer(member).loss) return;
    peer(member).loss = error;
    receives = take_receives_of(member);
    handlers = loss_handlers_;
  }
  for (const Receive& receive : receives) receive.done(error);
  for (const auto& [id, handler] : handlers) handler(member, error);
}

std::vector<Receive> Exchange::take_receives_of(int member) {
  std::vector<Receive> receives = matching_.take_receives_of(member);
  Peer& sender = peer(member);
  if (sender.inbound && sender.inbound->fate == Fate::kReceive) {
    receives.insert(receives.begin(), std::move(sender.inbound->receive));
  }
  sender.inbound.reset();
  return receives;
}

bool Exchange::run_ready() {
  bool moved = false;
  std::size_t rounds = 0;
  {
    const std::lock_guard lock(mutex_);
    rounds = ready_.size();
  }
  // One by one: a callback may cancel those behind it.
  for (; rounds > 0; --rounds) {
    Ready next;
    {
      const std::lock_guard lock(mutex_);
      if (ready_.empty() || closed_) return moved;
      next = std::move(ready_.front());
      ready_.pop_front();
    }
    next.run();
    moved = true;
  }
  return moved;
}

bool Exchange::judge_silence() {
  std::vector<int> dead;
  std::vector<int> others;
  {
    const std::lock_guard lock(mutex_);
    if (!silence_.tick(clock_.now())) return false;
    for (int other = 0; other < num_members(); ++other) {
      if (other == member() || peer(other).loss) continue;
      (silence_.is_dead(other) ? dead : others).push_back(other);
    }
  }
  for (const int other : dead) {
    transport_->give_up(
        other, Error(ErrorCode::kPeerLost, fmt::format("member {} gave no sign of life for {}", other,
                                                       format_duration(options_.liveness))));
  }
  for (const int other : others) ask(other);
  return true;
}

// One question at a time: they must not pile up before a member that does not read.
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

}  // namespace cohort::comm
