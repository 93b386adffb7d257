#include "ucx/transport.h"

#include "base/check.h"

namespace cohort::ucx {

using comm::FrameHeader;

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
    const std::vector<std::byte>& address = facts.addresses[static_cast<std::size_t>(each->member())];
    if (each->member() == member_ || address.empty()) continue;
    COHORT_RETURN_IF_ERROR(each->connect(address));
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
  if (status != UCS_OK) return worker_->error("cannot register a receive handler with UCX", status);
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
  // Sends at once if no thread uses UCX and the queue is empty.
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

// Messages without a valid envelope are dropped.
ucs_status_t UcxTransport::take(std::span<const std::byte> header, const Parcel& parcel) {
  const auto envelope = decode_envelope(header);
  if (!envelope || envelope->from >= links_.size()) return UCS_OK;
  if (envelope->frame.size_bytes != parcel.payload.size()) return UCS_OK;
  Link& from = link(static_cast<int>(envelope->from));
  return from.is_connected() ? from.take(*envelope, parcel) : UCS_OK;
}

}  // namespace cohort::ucx
