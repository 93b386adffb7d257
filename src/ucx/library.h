#pragma once

#include "base/result.h"

#include <string>
#include <ucp/api/ucp.h>

namespace cohort::ucx {

/// UCX as a table of functions, resolved at run time.
///
/// Threads: immutable.
/// Lifetime: never unloaded, because threads of UCX may outlive its users.
struct UcxLibrary {
  /// Loads the installed UCX. kUnsupported if UCX is missing, or older than the headers that Cohort was built
  /// with.
  static Result<UcxLibrary> load(const std::string& file = "libucp.so.0");

#define COHORT_UCX_FUNCTIONS(EACH)     \
  EACH(ucp_get_version)                \
  EACH(ucp_config_read)                \
  EACH(ucp_config_modify)              \
  EACH(ucp_config_release)             \
  EACH(ucp_init_version)               \
  EACH(ucp_cleanup)                    \
  EACH(ucp_worker_create)              \
  EACH(ucp_worker_destroy)             \
  EACH(ucp_worker_get_address)         \
  EACH(ucp_worker_release_address)     \
  EACH(ucp_worker_progress)            \
  EACH(ucp_worker_flush_nbx)           \
  EACH(ucp_worker_get_efd)             \
  EACH(ucp_worker_arm)                 \
  EACH(ucp_worker_set_am_recv_handler) \
  EACH(ucp_ep_create)                  \
  EACH(ucp_ep_close_nbx)               \
  EACH(ucp_am_send_nbx)                \
  EACH(ucp_am_recv_data_nbx)           \
  EACH(ucp_am_data_release)            \
  EACH(ucp_request_check_status)       \
  EACH(ucp_request_free)               \
  EACH(ucs_status_string)

#define COHORT_UCX_MEMBER(name) decltype(&::name) name = nullptr;
  COHORT_UCX_FUNCTIONS(COHORT_UCX_MEMBER)
#undef COHORT_UCX_MEMBER
};

}  // namespace cohort::ucx
