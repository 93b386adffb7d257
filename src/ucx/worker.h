#pragma once

#include "ucx/library.h"
#include "ucx/port.h"

#include <mutex>
#include <optional>
#include <vector>

namespace cohort::ucx {

/// A worker of UCX with its context: what messages go out from and come in at.
///
/// Threads: UCX is only called with mutex() held, its callbacks run inside of that.
/// Lifetime: shared by transport and doorbell; destroy() ends it for both.
class UcxWorker {
 public:
  static Result<std::shared_ptr<UcxWorker>> make(const UcxOptions& options);
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  const UcxLibrary& library() const { return library_; }
  std::mutex& mutex() { return mutex_; }
  const std::vector<std::byte>& address() const { return address_; }

  // With the mutex held.
  ucp_worker_h handle() const { return worker_; }
  bool progress() { return library_.ucp_worker_progress(worker_) != 0; }
  /// The descriptor that becomes readable with the next event; nothing if there is one already.
  std::optional<int> arm();
  /// Whether nothing is on its way any more, nor anything that UCX answers on its own. To be asked again
  /// after progress().
  bool is_flushed();
  /// Nobody uses it any more: see retire(). Unless something is on its way: UCX before 1.14 ends the process
  /// that destroys such a worker (its change 8175), so that one is left as it is.
  void destroy();

  Error error(const std::string& what, ucs_status_t status) const;

 private:
  explicit UcxWorker(const UcxLibrary& library) : library_(library) {}
  Status start(const UcxOptions& options);
  Result<ucp_config_t*> configure(const UcxOptions& options) const;
  Status copy_address();

  const UcxLibrary library_;
  std::mutex mutex_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int event_ = -1;  // the worker's own
  void* flush_ = nullptr;
  std::vector<std::byte> address_;
};

}  // namespace cohort::ucx
