#pragma once

#include "comm/group/communicator.h"
#include "comm/group/group_failure.h"
#include "comm/progress/progress.h"
#include "comm/shared_memory/control_packets.h"
#include "comm/shared_memory/doorbell.h"
#include "comm/shared_memory/meeting.h"
#include <cohort/default_limit.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <vector>

namespace cohort {

/// How the ranks of one host find each other.
struct SharedMemoryOptions {
  std::string rendezvous{};  ///< a name that all ranks of the job share, and no other job uses
  GroupFacts facts{};        ///< the group of the ranks of this host
  /// A rank without a heartbeat for this long is lost.
  std::chrono::nanoseconds liveness = DefaultLimit::kLiveness;
  /// How long to wait for all ranks to connect.
  std::chrono::nanoseconds meeting_limit = DefaultLimit::kMeeting;
  std::uint64_t members = 0;                         ///< as in comm::MeetingOptions
  std::function<std::optional<Error>()> hopeless{};  ///< as in comm::MeetingOptions
  /// Receives warnings about ranks that show no sign of life; called from other threads.
  std::function<void(const std::string&)> warn{};
};

}  // namespace cohort

namespace cohort::comm {

/// All ranks of a job on this host, as one of them sees them: their arenas, and whether their processes are
/// alive.
///
/// One thread watches. When a process ends, the kernel closes its control socket, which the thread sees at
/// once. A frozen process stops its heartbeat, which the thread sees within the liveness limit. The limit
/// counts checks of this process instead of time, so a pause of the whole machine does not look like the
/// death of all others.
///
/// Threads: every method from any thread.
/// Lifetime: belongs to one generation. The arena must outlive it. The destructor sends a farewell and does
/// not wait.
/// Failure: a member that ended without a farewell, or left, fails the groups it was in; an abort fails the
/// group it names.
class Neighbours {
 public:
  /// Connects to all other ranks; kTimedOut names the ranks that did not connect. When this returns, no
  /// process of an earlier generation can write to the arena any more.
  static Result<std::unique_ptr<Neighbours>> meet(Arena& arena, const SharedMemoryOptions& options);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  int rank() const { return options_.facts.rank; }
  int size() const { return options_.facts.world; }
  /// A rank of this host as errors name it.
  int global_rank(int rank) const { return options_.facts.global_rank(rank); }
  Arena& arena() const { return arena_; }
  /// The arena of `rank`, as mapped in this process.
  std::byte* memory_of(int rank) const;
  std::size_t memory_bytes_of(int rank) const;
  ArenaHeader& header_of(int rank) const { return *reinterpret_cast<ArenaHeader*>(memory_of(rank)); }
  /// Publishes the offset of our block of the first group and waits for the offsets of all ranks. The offset
  /// is not part of the hello, because a process of an earlier generation could still write to memory that
  /// was allocated before the fence.
  Result<std::vector<std::uint64_t>> exchange_first_blocks(std::uint64_t own_offset);
  ArenaDoorbell& doorbell() { return doorbell_; }
  /// The progress thread; the first call starts it.
  Progress& progress();

  /// The calls of a group.
  struct GroupCalls {
    std::function<std::optional<std::string>()> waiting;  ///< the call that waits now, for messages
    std::function<bool()> is_busy;                        ///< whether a call uses memory of other members
  };
  /// From now on failures of the group of these ranks reach `failure`, including those that were noticed
  /// before.
  void join(std::uint64_t group, std::span<const int> members, GroupFailure& failure, GroupCalls calls);
  void leave(std::uint64_t group);
  /// How many members were lost or have left, and the error of one of them.
  int num_losses() const { return num_losses_.load(std::memory_order_acquire); }
  std::optional<Error> loss_of(int rank) const;
  /// Tells the members of a group that it failed on this rank. Does not wait.
  void tell(std::uint64_t group, const Error& why);

  /// Fails all groups, those that are joined later, too, here and at their members.
  void end(const Error& why);
  /// Fails all groups here, waits for calls that still run on other threads, stops the progress thread, calls
  /// `before_farewell`, stops watching and says farewell. kTimedOut if a call has not ended by `deadline`.
  Status close(
      const Error& why, TimePoint deadline, const std::function<void()>& before_farewell = [] {});
  /// The members that ended, left or are silent.
  std::vector<Loss> losses() const;
  /// A rank of this host, to be looked at after this generation. At most once for each rank but the own one.
  Witness take_witness(int rank);

 private:
  struct Membership {
    std::set<int> members;
    GroupFailure* failure;
    GroupCalls calls;
  };
  struct Sighting {
    std::uint64_t heartbeat = 0;
    std::int64_t silent_looks = 0;
  };

  Neighbours(Arena& arena, const SharedMemoryOptions& options, std::vector<std::optional<Neighbour>> others,
             Descriptor stop);

  void watch();
  /// Handles what came from other members by `until`; true if the thread is to stop.
  bool listen(TimePoint until);
  void listen_to(int rank);
  void stop_watching();
  void say_farewell();
  bool is_busy() const;
  /// The groups that were fine until now.
  std::vector<std::uint64_t> fail_all(const Error& why);
  void look_at_heartbeats();
  void warn_of(int rank) const;
  std::string calls_that_wait_for(int rank) const;
  void hear(int rank, const ControlMessage& message);
  void lose(int rank, Loss::Kind kind, const Error& why);
  void remember_locked(int rank, Loss::Kind kind, const Error& why);
  void befall_locked(int rank, const AbortNotice& notice);
  std::optional<int> without_first_block() const;
  Error ended(int rank) const;
  Error left(int rank) const;

  Arena& arena_;
  const SharedMemoryOptions options_;
  ArenaDoorbell doorbell_;
  std::vector<std::optional<Neighbour>> others_;
  Descriptor stop_;                  // an eventfd
  std::vector<bool> watched_;        // used only by the watching thread
  std::vector<Sighting> sightings_;  // used only by the watching thread

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Membership> groups_;
  std::set<std::uint64_t> closed_;  // groups that this rank has left
  std::map<std::uint64_t, std::pair<int, AbortNotice>>
      befallen_;  // aborts of groups that were not joined here yet
  struct Lost {
    Loss::Kind kind;
    Error why;
  };
  std::map<int, Lost> losses_;
  std::atomic<int> num_losses_{0};
  std::optional<Error> end_;
  bool is_closed_ = false;
  std::unique_ptr<Progress> progress_;

  std::thread watcher_;
};

}  // namespace cohort::comm
