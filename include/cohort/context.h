#pragma once

#include <cohort/default_limit.h>
#include <cohort/export.h>
#include <cohort/group.h>
#include <cohort/link_settings.h>
#include <cohort/log.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace cohort {

struct ContextOptions {
  /// Timeout of every collective call, send and receive. An endless wait cannot be asked for. Default:
  /// COHORT_LIMIT, or DefaultLimit::kCall.
  std::optional<std::chrono::nanoseconds> limit{};
  /// A rank without a heartbeat for this long counts as lost. A rank that is merely slow still has a
  /// heartbeat; a process that has ended is noticed at once. Default: COHORT_LIVENESS, or
  /// DefaultLimit::kLiveness.
  std::optional<std::chrono::nanoseconds> liveness{};
  /// A host that stays unreachable for this long counts as lost, with all its ranks. If its connections come
  /// back earlier, transfers in flight resume at the byte where they broke off. A process that has ended is
  /// noticed at once, whatever this limit is.
  std::chrono::nanoseconds link_limit = DefaultLimit::kLink;
  /// Timeout of the rendezvous: how long the constructor waits for all ranks to start.
  std::chrono::nanoseconds meeting_limit = DefaultLimit::kMeeting;
  /// Address space reserved for memory that ranks of a host share. Pages take memory only once they are
  /// written.
  std::size_t arena_bytes = std::size_t{8} << 30;
  /// Backend, algorithm and connections. A value set here wins over its environment variable.
  LinkSettings links{};
  /// Receives warnings, such as that a rank shows no sign of life, and notes. Must outlive the Context.
  /// Called from other threads. Null: they are dropped.
  LogSink* log = nullptr;
  LogLevel log_level = LogLevel::kWarning;  ///< records below this level are not made
};

/// Membership of this process in a job: its rank, and the group of all ranks. Like MPI_COMM_WORLD, or
/// torch.distributed after init_process_group(). Rank and number of ranks come from the launcher: `cohort
/// run`, mpirun, srun or torchrun. A program started without a launcher is rank 0 of 1, and every call works.
///
///     cohort::Context context;
///     std::vector<float> sums = …;
///     context.all_reduce(sums);
///
/// Threads: as Group.
/// Lifetime: memory from allocate() lives as long as the Context. Groups, a Trainer or a DataParallel that
/// were made with the Context may outlive it.
/// Failure: methods throw Error, as those of Group; after the first failure every later call throws the same
/// error, until shrink(). The backend mpi, if the MPI library is not fault-tolerant, ends the whole job
/// instead and writes the cause to standard error.
/// Cost: the constructor waits for all ranks. With the backend mpi, a process that ends normally waits for
/// all other ranks, as MPI_Finalize does.
/// A child made by fork() has no part in the job: it must make no calls. Whether it ends by _exit(), exit()
/// or a return from main(), the job goes on.
class COHORT_EXPORT Context : public Group {
 public:
  explicit Context(const ContextOptions& options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int local_rank() const;  ///< among the ranks of this host
  int local_size() const;  ///< the number of ranks on this host

  /// Zeroed memory that the ranks of this host share: collective calls inside the host read it in place,
  /// without a copy.
  template <class T>
  std::span<T> allocate(std::size_t count) {
    return {static_cast<T*>(allocate_elements(count, sizeof(T))), count};
  }
  /// A zeroed tensor of the same shape and dtype in such memory.
  at::Tensor allocate_like(const at::Tensor& tensor);

  /// After kPeerLost, forms a group of the surviving ranks and continues with it (MPIX_Comm_shrink). Every
  /// survivor must call it, with no other call pending. Survivors are renumbered without gaps; local_rank()
  /// and local_size() remain as the launcher set them. Throws kUnsupported unless the backend is mpi,
  /// started by `mpirun --with-ft ulfm`.
  void shrink();

 private:
  struct World;
  explicit Context(std::shared_ptr<World> world);
  static std::shared_ptr<World> join(const ContextOptions& options);
  void* allocate_elements(std::size_t count, std::size_t element_bytes);

  std::shared_ptr<World> world_;
};

}  // namespace cohort
