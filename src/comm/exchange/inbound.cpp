#include "base/check.h"
#include "base/units.h"
#include "comm/exchange/exchange.h"

#include <fmt/format.h>

// Messages from the transport on their way to a receive, a handler, or the kept messages; and lost members.

namespace cohort::comm {
namespace {

// The receives of a lost member end with kPeerLost, whatever the cause of the loss.
Error as_loss(int member, const Error& why) {
  if (why.code() == ErrorCode::kPeerLost) return why;
  return Error(ErrorCode::kPeerLost, fmt::format("member {} is lost: {}", member, why.text()));
}

Error long_offer(const FrameHeader& header) {
  return Error(ErrorCode::kCorrupt, fmt::format("message on channel {} has {} bytes, expected at most {}",
                                                name(header.channel), header.size_bytes, kOfferBytesCap));
}

}  // namespace

bool Exchange::is_expected(int from, const FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  return is_stale(header) || peer(from).loss || handlers_.contains({header.channel, header.group}) ||
         matching_.has_receive(MatchKey::of(from, header));
}

std::span<std::byte> Exchange::buffer_for(int from, const FrameHeader& header) {
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
  if (header.channel == Channel::kOffer || header.channel == Channel::kCallFor) {
    if (header.size_bytes <= kOfferBytesCap) {
      inbound.fate = Fate::kRead;
    } else {
      transport_->give_up(from, long_offer(header));
    }
    return inbound;
  }
  if (std::optional<Receive> receive = matching_.take_receive(MatchKey::of(from, header))) {
    inbound.fate = Fate::kReceive;
    inbound.fits = comm::fits(from, header, *receive);
    inbound.receive = std::move(*receive);
    return inbound;
  }
  // The cap is checked before memory is allocated.
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

void Exchange::withdrawn(int from, const FrameHeader& header) {
  Inbound inbound;
  {
    const std::lock_guard lock(mutex_);
    Peer& sender = peer(from);
    COHORT_CHECK(sender.inbound && sender.inbound->header.sequence == header.sequence);
    inbound = std::move(*sender.inbound);
    sender.inbound.reset();
    if (inbound.fate == Fate::kKeep) {
      // A receive may have started while the message came in.
      auto receive = matching_.take_receive(MatchKey::of(from, header));
      if (!receive) return;
      inbound.receive = std::move(*receive);
    }
  }
  if (inbound.fate == Fate::kIgnore || inbound.fate == Fate::kRead) return;
  inbound.receive.done(
      Error(ErrorCode::kAborted, fmt::format("member {} cancelled the message that it was sending", from)));
}

void Exchange::keep(KeptMessage message) {
  // A receive may have started while the message came in.
  const MatchKey key = MatchKey::of(message.from, message.header);
  if (std::optional<Receive> receive = matching_.take_receive(key)) {
    return meet(std::move(message), std::move(*receive));
  }
  matching_.add(std::move(message));
}

void Exchange::give_up_flood(int from) {
  transport_->give_up(
      from,
      Error(ErrorCode::kPeerLost, fmt::format("member {} sent more than {} that nothing was waiting for",
                                              from, format_bytes(options_.unexpected_cap_bytes)))
          .with_remedy(
              "Open the mailbox on every rank before requests are sent, and send smaller requests."));
}

void Exchange::finish(int from, Inbound inbound) {
  const FrameHeader& header = inbound.header;
  if (inbound.fate == Fate::kReceive) {
    inbound.receive.done(inbound.fits);
  } else if (inbound.fate == Fate::kKeep) {
    run_ready();  // messages that waited for the handler come first
    run_handler({from, header, std::move(inbound.payload)});
  } else if (inbound.fate == Fate::kRead) {
    if (Status fits = read(from, header, inbound.payload); !fits) transport_->give_up(from, fits.error());
  } else if (header.channel == Channel::kAlive) {
    answer(from, header);
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
    offers_.take_all([&](const MatchKey& key) { return key.member == member; });
  }
  fail_held(member, error);
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

}  // namespace cohort::comm
