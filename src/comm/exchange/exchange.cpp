#include "comm/exchange/exchange.h"

#include "base/check.h"
#include "base/units.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace cohort::comm {
namespace {

Error stale(const FrameHeader& header) {
  return Error(ErrorCode::kStale,
               fmt::format("generation {} of group {} is over", header.generation, header.group));
}

}  // namespace

std::size_t usual_unexpected_cap_bytes() {
  static const auto memory_bytes =
      static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return std::max(kLeastUnexpectedCapBytes, memory_bytes / 8);
}

Exchange::Exchange(std::unique_ptr<Transport> transport, Clock& clock, Options options)
    : transport_(std::move(transport)),
      clock_(clock),
      options_(std::move(options)),
      windows_(static_cast<std::size_t>(transport_->num_members()),
               SendWindow(std::min(options_.unexpected_cap_bytes, kLeastUnexpectedCapBytes) / 2)),
      peers_(static_cast<std::size_t>(transport_->num_members())),
      matching_(transport_->num_members()),
      silence_(transport_->num_members(), options_.liveness) {}

void Exchange::open(Doorbell& doorbell) {
  {
    const std::lock_guard lock(mutex_);
    COHORT_CHECK(doorbell_ == nullptr, "the exchange is open already");
    doorbell_ = &doorbell;
  }
  transport_->open(*this, doorbell);
}

void Exchange::recv(int from, const FrameHeader& header, std::span<std::byte> into, Done done) {
  COHORT_CHECK(from >= 0 && from < num_members(), "there is no member {}", from);
  std::unique_lock lock(mutex_);
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
  const std::optional<OpenOffers::Ticket> ticket = offers_.take(key);
  if (!ticket) return;
  matching_.call_for(key);
  lock.unlock();
  call_for(*ticket, OfferAnswer::Verdict::kSend);
}

void Exchange::cancel(std::uint32_t group, std::uint32_t generation) {
  std::vector<OpenOffers::Ticket> unwanted;
  {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = cancelled_.try_emplace(group, generation);
    entry->second = std::max(entry->second, generation);
    forget(group, generation);
    unwanted = offers_.take_all(
        [&](const MatchKey& key) { return key.group == group && key.generation <= generation; });
  }
  forget_held(group, generation);
  transport_->withdraw(group, generation);
  for (const OpenOffers::Ticket& ticket : unwanted) call_for(ticket, OfferAnswer::Verdict::kDrop);
  wait_for_advance();
}

void Exchange::handle(Channel channel, std::uint32_t group, Handler handler) {
  std::vector<OpenOffers::Ticket> wanted;
  {
    const std::lock_guard lock(mutex_);
    handlers_[{channel, group}] = std::move(handler);
    for (KeptMessage& message : matching_.take_messages_of(channel, group)) hand_over(std::move(message));
    wanted =
        offers_.take_all([&](const MatchKey& key) { return key.channel == channel && key.group == group; });
  }
  for (const OpenOffers::Ticket& ticket : wanted) call_for(ticket, OfferAnswer::Verdict::kSend);
}

void Exchange::hand_over(KeptMessage message) {
  const FrameHeader header = message.header;
  make_ready(header, [this, shared = std::make_shared<KeptMessage>(std::move(message))] {
    run_handler(std::move(*shared));
  });
}

// Runs the handler that is registered at the time of the call, if any.
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

void Exchange::end(const Error& why, Ending ending) {
  const std::lock_guard lock(mutex_);
  if (end_) return;
  end_ = why;
  ending_ = ending;
  for (const auto& [id, handler] : end_handlers_) {
    ready_.push_back({{}, {}, [this, number = id] { tell_end(number); }});
  }
  if (doorbell_ != nullptr) doorbell_->ring();
}

int Exchange::on_end(EndHandler handler) {
  const std::lock_guard lock(mutex_);
  const int id = next_end_handler_++;
  end_handlers_.emplace(id, std::move(handler));
  if (end_) ready_.push_back({{}, {}, [this, id] { tell_end(id); }});
  if (end_ && doorbell_ != nullptr) doorbell_->ring();
  return id;
}

void Exchange::tell_end(int id) {
  EndHandler handler;
  std::optional<Error> why;
  {
    const std::lock_guard lock(mutex_);
    const auto found = end_handlers_.find(id);
    if (found != end_handlers_.end()) handler = found->second;
    why = end_;
  }
  if (handler) handler(*why, ending_);  // does not change once there is an end
}

void Exchange::remove_end_handler(int id) {
  {
    const std::lock_guard lock(mutex_);
    end_handlers_.erase(id);
  }
  wait_for_advance();
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
  {
    const std::lock_guard lock(send_mutex_);
    for (SendWindow& window : windows_) window.end();
  }
  const std::lock_guard lock(mutex_);
  ready_.clear();
  matching_.clear();
  doorbell_ = nullptr;
}

// Returns when the advance() that runs has ended; at once on the thread that advances.
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
    // A payload that is coming in is dropped. Its buffer stays: the transport may be writing to it.
    if (other.inbound && is_over(other.inbound->header)) {
      other.inbound->fate = Fate::kIgnore;
      other.inbound->receive = {};
    }
  }
}

bool Exchange::run_ready() {
  bool moved = false;
  std::size_t rounds = 0;
  {
    const std::lock_guard lock(mutex_);
    rounds = ready_.size();
  }
  // Calls back one receive at a time: a callback may cancel receives that are still to be called back.
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

}  // namespace cohort::comm
