#include "side.h"

#include <cstring>
#include <fmt/format.h>
#include <stdexcept>
#include <ucp/api/ucp.h>

namespace cohort::bench {
namespace {

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK) throw std::runtime_error(fmt::format("{}: {}", what, ucs_status_string(status)));
}

class Bare final : public Side {
 public:
  Bare(const Settings& settings, ErrorHandling error_handling) : error_handling_(error_handling) {
    ucp_config_t* config = nullptr;
    check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    for (const auto& [key, value] : settings) {
      check(ucp_config_modify(config, key.c_str(), value.c_str()), "ucp_config_modify");
    }
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    check(ucp_init(&params, config, &context_), "ucp_init");
    ucp_config_release(config);
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    check(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
  }

  Address address() const override {
    ucp_address_t* address = nullptr;
    std::size_t size_bytes = 0;
    check(ucp_worker_get_address(worker_, &address, &size_bytes), "ucp_worker_get_address");
    const auto* const bytes = reinterpret_cast<const std::byte*>(address);
    Address copy(bytes, bytes + size_bytes);
    ucp_worker_release_address(worker_, address);
    return copy;
  }

  void connect(int member, const std::vector<Address>& addresses) override {
    const Address& other = addresses[static_cast<std::size_t>(1 - member)];
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.err_mode =
        error_handling_ == ErrorHandling::kOn ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    params.address = reinterpret_cast<const ucp_address_t*>(other.data());
    check(ucp_ep_create(worker_, &params, &endpoint_), "ucp_ep_create");
  }

  void send(std::span<const std::byte> payload) override {
    const ucp_request_param_t params{};
    wait(ucp_tag_send_nbx(endpoint_, payload.data(), payload.size(), kTag, &params));
  }
  void receive(std::span<std::byte> into) override {
    const ucp_request_param_t params{};
    wait(ucp_tag_recv_nbx(worker_, into.data(), into.size(), kTag, ~ucp_tag_t{0}, &params));
  }

 private:
  static constexpr ucp_tag_t kTag = 7;

  void wait(void* request) {
    if (!UCS_PTR_IS_PTR(request)) return check(UCS_PTR_STATUS(request), "sending or receiving a message");
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
    check(ucp_request_check_status(request), "sending or receiving a message");
    ucp_request_free(request);
  }

  const ErrorHandling error_handling_;
  ucp_context_h context_ = nullptr;  // never destroyed: the process ends
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
};

}  // namespace

std::unique_ptr<Side> make_bare(const Settings& settings, ErrorHandling error_handling) {
  return std::make_unique<Bare>(settings, error_handling);
}

}  // namespace cohort::bench
