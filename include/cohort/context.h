#pragma once

#include <cohort/default_limit.h>
#include <cohort/export.h>
#include <cohort/group.h>
#include <cohort/link_settings.h>
#include <cohort/log.h>
#include <cohort/member.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

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
  /// Timeout of the rendezvous: how long the constructor waits for all ranks to start, survivors() for all
  /// members that live, and form() for all members of the list.
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

/// Membership of this process in a job, and the group of all ranks of its role. Like MPI_COMM_WORLD, or
/// torch.distributed after init_process_group(). Rank and number of ranks come from the launcher: `cohort
/// run`, mpirun, srun or torchrun. A program started without a launcher is rank 0 of 1, and every call works.
///
///     cohort::Context context;
///     std::vector<float> sums = …;
///     context.all_reduce(sums);
///
/// A job may go on after a failure, with the members that are left:
///
///     try { … } catch (const cohort::Error&) {
///       context.form(context.survivors());  // every survivor calls this
///     }
///
/// Threads: as Group; survivors() and form() while no other thread uses the Context.
/// Lifetime: memory from allocate() lives as long as the Context. Groups, a Trainer or a DataParallel that
/// were made with the Context may outlive it, and the generation they belong to: their calls throw kStale
/// after form().
/// Failure: methods throw Error, as those of Group; after the first failure every later call throws the same
/// error, until form(). The backend mpi, if the MPI library is not fault-tolerant, ends the whole job
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

  int local_rank() const;  ///< among the ranks of this group on this host
  int local_size() const;  ///< the number of ranks of this group on this host

  Role role() const;                           ///< of this process, in this generation
  std::uint64_t id() const;                    ///< of this process, in all generations
  std::uint32_t generation() const;            ///< goes up with every form()
  const std::vector<Member>& members() const;  ///< of this generation, by their ranks in everyone()
  /// The group of all members, whatever their roles. The Context itself if all have the same role.
  Group& everyone();

  /// Zeroed memory that the ranks of this host share: collective calls inside the host read it in place,
  /// without a copy.
  template <class T>
  std::span<T> allocate(std::size_t count) {
    return {static_cast<T*>(allocate_elements(count, sizeof(T))), count};
  }
  /// A zeroed tensor of the same shape and dtype in such memory.
  at::Tensor allocate_like(const at::Tensor& tensor);

  /// After a failure, the members of this generation that are left: the same list on each of them. Every
  /// member that lives must call this. Ends all calls of the generation, on all members. A member counts as
  /// lost if its process has ended, if it has left, or if it has been without a sign of life for the liveness
  /// limit; a member of another host that is merely silent counts only if more than half of the members are
  /// left. Nobody watches members between two generations: after a form() that failed, one that does not call
  /// within ContextOptions::meeting_limit counts as silent. Throws kTimedOut for members that live but do not
  /// call, kPeerLost if the others count this process as lost or too few members are left.
  std::vector<Member> survivors();
  /// Forms the next generation of these members, in this order; their roles may differ from the present ones.
  /// Every listed member calls this with the same list; no other member has a part in the job any more, and
  /// its process is killed if it shares memory with one of them. From now on the Context is the group of the
  /// new generation; groups, trainers and mailboxes of earlier ones throw kStale. If form() fails, the new
  /// generation counts as one that has failed: call survivors() and form() again. With the backend mpi,
  /// `members` must be those that survivors() returned; throws kUnsupported unless `mpirun --with-ft ulfm`
  /// started the job.
  void form(const std::vector<Member>& members);

 private:
  struct World;
  explicit Context(std::shared_ptr<World> world);
  static std::shared_ptr<World> join(const ContextOptions& options);
  void take_groups();
  void* allocate_elements(std::size_t count, std::size_t element_bytes);

  std::shared_ptr<World> world_;
  std::optional<Group> everyone_;  // if there are several roles
};

}  // namespace cohort
