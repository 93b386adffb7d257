#include "ucx/worker.h"

#include <cstring>
#include <fmt/format.h>

namespace cohort::ucx {

Result<std::shared_ptr<UcxWorker>> UcxWorker::make(const UcxOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const UcxLibrary library, UcxLibrary::load());
  std::shared_ptr<UcxWorker> worker(new UcxWorker(library));
  const std::lock_guard lock(worker->mutex_);
  COHORT_RETURN_IF_ERROR(worker->start(options));
  return worker;
}

UcxWorker::~UcxWorker() {
  destroy();
}

bool UcxWorker::is_flushed() {
  if (flush_ != nullptr) {
    if (library_.ucp_request_check_status(flush_) == UCS_INPROGRESS) return false;
    library_.ucp_request_free(std::exchange(flush_, nullptr));
  }
  const ucp_request_param_t param{};
  void* const request = library_.ucp_worker_flush_nbx(worker_, &param);
  if (UCS_PTR_IS_PTR(request)) flush_ = request;
  return flush_ == nullptr;
}

void UcxWorker::destroy() {
  if (worker_ == nullptr && context_ != nullptr) library_.ucp_cleanup(context_);
  if (worker_ != nullptr && is_flushed()) retire(library_, worker_, context_);
  worker_ = nullptr;
  context_ = nullptr;
  event_ = -1;
}

Error UcxWorker::error(const std::string& what, ucs_status_t status) const {
  return Error(ErrorCode::kIo, fmt::format("{}: {}", what, library_.ucs_status_string(status)));
}

Result<ucp_config_t*> UcxWorker::configure(const UcxOptions& options) const {
  ucp_config_t* config = nullptr;
  if (const ucs_status_t status = library_.ucp_config_read(nullptr, nullptr, &config); status != UCS_OK) {
    return error("cannot read the settings of UCX (ucp_config_read)", status);
  }
  // Otherwise a connection to an unreachable host blocks for minutes. Only the tcp transport has this
  // setting, so an error is ignored.
  (void)library_.ucp_config_modify(config, "CONN_NB", "y");
  for (const auto& [key, value] : options.settings) {
    const ucs_status_t status = library_.ucp_config_modify(config, key.c_str(), value.c_str());
    if (status == UCS_OK) continue;
    library_.ucp_config_release(config);
    return Error(ErrorCode::kUsage, fmt::format("UCX refused the setting {}={}: {}", key, value,
                                                library_.ucs_status_string(status)));
  }
  return config;
}

Status UcxWorker::start(const UcxOptions& options) {
  COHORT_ASSIGN_OR_RETURN(ucp_config_t* const config, configure(options));
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
  wanted.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  const ucs_status_t begun =
      library_.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &wanted, config, &context_);
  library_.ucp_config_release(config);
  if (begun != UCS_OK) return error("cannot start UCX (ucp_init)", begun);

  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const auto status = library_.ucp_worker_create(context_, &params, &worker_); status != UCS_OK) {
    return error("cannot create a UCX worker (ucp_worker_create)", status);
  }
  if (const auto status = library_.ucp_worker_get_efd(worker_, &event_); status != UCS_OK) {
    return error("these UCX transports cannot wake a sleeping thread (ucp_worker_get_efd)", status);
  }
  return copy_address();
}

Status UcxWorker::copy_address() {
  ucp_address_t* address = nullptr;
  std::size_t size_bytes = 0;
  if (const auto status = library_.ucp_worker_get_address(worker_, &address, &size_bytes); status != UCS_OK) {
    return error("cannot read the address of the UCX worker (ucp_worker_get_address)", status);
  }
  address_.resize(size_bytes);
  std::memcpy(address_.data(), address, size_bytes);
  library_.ucp_worker_release_address(worker_, address);
  return {};
}

std::optional<int> UcxWorker::arm() {
  if (worker_ == nullptr || library_.ucp_worker_arm(worker_) != UCS_OK) return std::nullopt;
  return event_;
}

}  // namespace cohort::ucx
