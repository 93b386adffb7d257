#pragma once

#include "ucx/library.h"
#include "ucx/port.h"

#include <mutex>
#include <optional>
#include <vector>

namespace cohort::ucx {

/// A UCX worker with its context: the endpoint of all messages of a process.
///
/// Threads: UCX is only called with mutex() held; its callbacks run inside these calls.
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

  // The functions below are called with the mutex held.
  ucp_worker_h handle() const { return worker_; }
  bool progress() { return library_.ucp_worker_progress(worker_) != 0; }
  /// The descriptor that becomes readable with the next event; nullopt if an event has already arrived.
  std::optional<int> arm();
  /// Whether no message is in flight, including answers that UCX sends on its own. If not, call again after
  /// progress().
  bool is_flushed();
  /// Ends the worker by retire(), unless a message is in flight: UCX before 1.14 aborts a process that
  /// destroys such a worker (openucx/ucx#8175), so that worker is leaked.
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
  int event_ = -1;  // event descriptor of the worker
  void* flush_ = nullptr;
  std::vector<std::byte> address_;
};

/// Destroys an unused worker once no peer can still be connecting to it: UCX 1.13 aborts a process whose peer
/// is gone when it answers a connection (openucx/ucx#8175).
///
/// Threads: any.
/// Lifetime: all remaining workers are destroyed when the process exits.
/// Cost: sockets and memory of the workers that were retired in the last seconds.
void retire(const UcxLibrary& library, ucp_worker_h worker, ucp_context_h context);

}  // namespace cohort::ucx
