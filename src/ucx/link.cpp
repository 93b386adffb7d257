#include "ucx/link.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::ucx {

using comm::Channel;
using comm::FrameHeader;

Error left(int member) {
  return Error(ErrorCode::kPeerLost, fmt::format("member {} has left", member));
}

Link::Link(UcxWorker& worker, Sends& sends, int self, int member)
    : worker_(worker), sends_(sends), self_(self), member_(member) {}

Status Link::connect(std::vector<std::byte> address) {
  address_ = std::move(address);
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address_.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {.cb = &Link::on_error, .arg = this};
  const auto status = worker_.library().ucp_ep_create(worker_.handle(), &params, &endpoint_);
  if (status == UCS_OK) return {};
  return worker_.error(fmt::format("UCX cannot connect to member {}", member_), status)
      .with_remedy("Set UCX_TLS and UCX_NET_DEVICES to transports that report lost peers, such as tcp.");
}

// ----- sending -----

void Link::send(const FrameHeader& header, std::span<const std::byte> payload, comm::Transport::Sent sent) {
  if (loss_) return sends_.finish(header, std::move(sent), *loss_);
  Outgoing& outgoing = sends_.begin();
  outgoing.header = header;
  outgoing.sent = std::move(sent);
  post(outgoing, payload, ++num_sent_);
}

// A short message is sent as one buffer, which UCX sends faster than a header and a payload.
void Link::post(Outgoing& outgoing, std::span<const std::byte> payload, std::uint64_t number) {
  outgoing.link = this;
  outgoing.reads_payload = payload.size() > kCopied;
  const Envelope envelope = {static_cast<std::uint32_t>(self_), number, outgoing.header};
  if (outgoing.reads_payload) {
    outgoing.room.resize(kEnvelopeBytes);
    encode(envelope, std::span(outgoing.room).first<kEnvelopeBytes>());
    return post(outgoing, kLongMessage, outgoing.room, payload);
  }
  outgoing.room.resize(kEnvelopeBytes + payload.size());
  encode(envelope, std::span(outgoing.room).first<kEnvelopeBytes>());
  if (!payload.empty()) std::memcpy(outgoing.room.data() + kEnvelopeBytes, payload.data(), payload.size());
  post(outgoing, kShortMessage, {}, outgoing.room);
}

void Link::post(Outgoing& outgoing, unsigned kind, std::span<const std::byte> header,
                std::span<const std::byte> data) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = &Link::on_sent;
  param.user_data = &outgoing;
  void* const request = worker_.library().ucp_am_send_nbx(endpoint_, kind, header.data(), header.size(),
                                                          data.data(), data.size(), &param);
  if (UCS_PTR_IS_PTR(request)) {
    outgoing.index_in_link = in_flight_.size();
    in_flight_.push_back(&outgoing);
  } else {
    finish(outgoing, UCS_PTR_RAW_STATUS(request));
  }
}

void Link::on_sent(void* request, ucs_status_t status, void* user_data) {
  auto& outgoing = *static_cast<Outgoing*>(user_data);
  Link& link = *outgoing.link;
  link.worker_.library().ucp_request_free(request);
  Outgoing* const last = link.in_flight_.back();
  last->index_in_link = outgoing.index_in_link;
  link.in_flight_[outgoing.index_in_link] = last;
  link.in_flight_.pop_back();
  link.finish(outgoing, status);
}

void Link::finish(Outgoing& outgoing, ucs_status_t status) {
  if (status != UCS_OK) fail(status);
  sends_.finish(outgoing, status == UCS_OK ? Status() : Status(*loss_));
}

void Link::forget(std::uint32_t group, std::uint32_t generation) {
  for (Outgoing* const each : in_flight_) {
    if (each->header.is_of(group, generation)) each->sent = nullptr;
  }
}

bool Link::uses(std::uint32_t group, std::uint32_t generation) const {
  if (receiving_ != nullptr && receiving_->header.is_of(group, generation)) return true;
  return std::any_of(in_flight_.begin(), in_flight_.end(), [&](const Outgoing* each) {
    return each->reads_payload && each->header.is_of(group, generation);
  });
}

// ----- receiving -----

ucs_status_t Link::take(const Envelope& envelope, const Parcel& parcel) {
  if (loss_) return UCS_OK;  // messages after a loss are dropped
  has_come_ = true;
  if (envelope.number == 0) {
    lose(left(member_), Parting::kNone, {});
    return UCS_OK;
  }
  Incoming incoming = {.link = this, .header = envelope.frame};
  const bool is_offer = (parcel.attributes & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  const bool stays = is_offer || (parcel.attributes & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
  if (is_offer) incoming.state = Incoming::State::kOffered;
  if (stays) {
    incoming.data = parcel.data;
    incoming.payload = parcel.payload;
  } else {
    incoming.copy.assign(parcel.payload.begin(), parcel.payload.end());
    incoming.payload = incoming.copy;
  }
  incoming_.add(envelope.number, std::move(incoming));
  return stays ? UCS_INPROGRESS : UCS_OK;
}

void Link::receive(Incoming& offered, std::span<std::byte> room) {
  if (room.empty()) {
    release(offered);
    offered.state = Incoming::State::kReceived;
    return;
  }
  COHORT_CHECK_EQ(room.size(), offered.header.size_bytes);
  offered.state = Incoming::State::kReceiving;
  receiving_ = &offered;
  start_receive(offered, room, &Link::on_received);
}

void Link::fetch_all() {
  incoming_.for_each_ready([this](Incoming& each) {
    if (each.state != Incoming::State::kOffered || loss_) return;
    each.copy.resize(each.header.size_bytes);
    each.payload = each.copy;
    each.state = Incoming::State::kFetching;
    ++num_fetching_;
    start_receive(each, each.copy, &Link::on_fetched);
  });
}

void Link::start_receive(Incoming& offered, std::span<std::byte> room, ReceiveDone done) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.recv_am = done;
  param.user_data = &offered;
  void* const request = worker_.library().ucp_am_recv_data_nbx(
      worker_.handle(), std::exchange(offered.data, nullptr), room.data(), room.size(), &param);
  if (!UCS_PTR_IS_PTR(request)) done(nullptr, UCS_PTR_RAW_STATUS(request), room.size(), &offered);
}

void Link::on_received(void* request, ucs_status_t status, std::size_t, void* user_data) {
  auto& incoming = *static_cast<Incoming*>(user_data);
  incoming.link->receiving_ = nullptr;
  incoming.link->end_receive(request, status, incoming, Incoming::State::kReceived);
}

void Link::on_fetched(void* request, ucs_status_t status, std::size_t, void* user_data) {
  auto& incoming = *static_cast<Incoming*>(user_data);
  --incoming.link->num_fetching_;
  incoming.link->end_receive(request, status, incoming, Incoming::State::kWhole);
}

void Link::end_receive(void* request, ucs_status_t status, Incoming& incoming, Incoming::State state) {
  if (request != nullptr) worker_.library().ucp_request_free(request);
  incoming.state = status == UCS_OK ? state : Incoming::State::kBroken;
  if (status != UCS_OK) fail(status);
}

void Link::release(Incoming& incoming) {
  if (incoming.data == nullptr) return;
  worker_.library().ucp_am_data_release(worker_.handle(), std::exchange(incoming.data, nullptr));
}

void Link::drop_incoming() {
  incoming_.drain([this](Incoming& each) { release(each); });
}

// ----- closing -----

void Link::on_error(void* user_data, ucp_ep_h, ucs_status_t status) {
  static_cast<Link*>(user_data)->fail(status);
}

void Link::fail(ucs_status_t status) {
  const char* const words = worker_.library().ucs_status_string(status);
  lose(Error(ErrorCode::kPeerLost, fmt::format("UCX lost the connection to member {}: {}", member_, words)),
       Parting::kNone, {});
}

void Link::lose(const Error& why, Parting parting, TimePoint until) {
  if (!loss_) {
    loss_ = Error(ErrorCode::kPeerLost, why.text());
    parting_ = parting;
    close_at_ = until;
  } else if (parting == Parting::kNone) {
    parting_ = Parting::kNone;
  }
}

void Link::say_farewell() {
  if (!std::exchange(said_farewell_, true)) post_farewell(++num_sent_);
}

void Link::post_farewell(std::uint64_t number) {
  Outgoing& outgoing = sends_.begin();
  outgoing.header = {.channel = Channel::kFarewell};
  outgoing.sent = nullptr;
  post(outgoing, {}, number);
}

void Link::advance_end(TimePoint now) {
  if (!loss_ || has_closed_) return;
  if (!std::exchange(is_ending_, true)) {
    fail_copies();
    if (parting_ == Parting::kAnswer) say_farewell();
    if (parting_ == Parting::kAtOnce) post_farewell(0);
  }
  if (parting_ == Parting::kNone) return close();
  if (now < close_at_ || !uses_memory()) return;
  // A farewell on the forcibly closed endpoint would be lost: a new endpoint is made to send it.
  close();
  if (connect(address_)) post_farewell(0);
}

// Sends whose payload was copied fail at once; UCX may finish them later.
void Link::fail_copies() {
  for (Outgoing* const each : in_flight_) {
    if (!each->reads_payload) sends_.finish(each->header, std::exchange(each->sent, nullptr), *loss_);
  }
}

bool Link::uses_memory() const {
  return receiving_ != nullptr || std::any_of(in_flight_.begin(), in_flight_.end(),
                                              [](const Outgoing* each) { return each->reads_payload; });
}

// UCX calls back everything in flight with an error, now or soon.
void Link::close() {
  has_closed_ = true;
  if (endpoint_ == nullptr) return;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  void* const request = worker_.library().ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &param);
  if (UCS_PTR_IS_PTR(request)) worker_.library().ucp_request_free(request);
}

}  // namespace cohort::ucx
