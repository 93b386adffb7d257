#pragma once

#include "comm/group_failure.h"
#include "comm/progress.h"
#include "comm/shared_memory/doorbell.h"
#include "comm/shared_memory/line_message.h"
#include "comm/shared_memory/meeting.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <vector>

namespace cohort::comm {

struct NeighboursOptions {
  std::string name{};
  int rank = 0;
  int world = 1;
  std::uint32_t generation = 0;
  std::chrono::nanoseconds liveness = std::chrono::milliseconds(500);
  std::chrono::nanoseconds meeting_limit = std::chrono::seconds(30);
};

/// All members of a job on this host, as one of them sees them: their arenas, and whether they live.
///
/// A thread watches: the end of a process closes its line, which is seen at once; a process that is frozen
/// stops its heartbeat, which is seen within the liveness limit. The limit is counted in looks of our own, so
/// that a pause of the whole machine is not taken for the death of all others.
///
/// Threads: every method from any thread.
/// Lifetime: belongs to one generation. The arena must outlive it. The destructor says farewell and waits for
/// nobody.
/// Failure: a member that ended without a farewell fails every group; one that left fails the groups it was
/// in; an abort fails the group it names.
class Neighbours {
 public:
  /// Waits for all of them: kTimedOut names those that did not come. When it returns nobody of an earlier
  /// generation can write to the arena any more.
  static Result<std::unique_ptr<Neighbours>> meet(Arena& arena, const NeighboursOptions& options);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  int rank() const { return options_.rank; }
  int world() const { return options_.world; }
  Arena& arena() const { return arena_; }
  /// What `rank` lays open; for our own rank, ours.
  std::byte* memory_of(int rank) const;
  std::size_t memory_bytes_of(int rank) const;
  ArenaHeader& header_of(int rank) const { return *reinterpret_cast<ArenaHeader*>(memory_of(rank)); }
  /// Tells the others where our block of the first group lies and waits for theirs: one per rank. It is not
  /// told when they meet, because what is laid down before the fence could still be written by somebody else.
  Result<std::vector<std::uint64_t>> exchange_first_blocks(std::uint64_t own_offset);
  ArenaDoorbell& doorbell() { return doorbell_; }
  /// The progress thread, started when it is first asked for.
  Progress& progress();

  /// From now on what befalls the group of these ranks reaches `failure`; also what befell it before.
  void join(std::uint64_t group, std::span<const int> members, GroupFailure& failure);
  void leave(std::uint64_t group);
  /// How many members are gone, and why one is.
  int num_losses() const { return num_losses_.load(std::memory_order_acquire); }
  std::optional<Error> loss_of(int rank) const;
  /// Tells the members of a group that it has failed for us. Does not wait.
  void tell(std::uint64_t group, const Error& why);

 private:
  struct Membership {
    std::set<int> members;
    GroupFailure* failure;
  };
  struct Sighting {
    std::uint64_t heartbeat = 0;
    std::int64_t silent_looks = 0;
  };

  Neighbours(Arena& arena, const NeighboursOptions& options, std::vector<std::optional<Neighbour>> others,
             Descriptor stop);

  void watch();
  void listen_to(int rank);
  void look_at_heartbeats();
  void hear(int rank, const LineMessage& message);
  void lose(int rank, const Error& why);
  void remember_locked(int rank, const Error& why);
  void befall_locked(int rank, const AbortNotice& notice);
  std::optional<int> without_first_block() const;

  Arena& arena_;
  const NeighboursOptions options_;
  ArenaDoorbell doorbell_;
  std::vector<std::optional<Neighbour>> others_;
  Descriptor stop_;                  // an eventfd
  std::vector<bool> watched_;        // by the watching thread
  std::vector<Sighting> sightings_;  // by the watching thread

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Membership> groups_;
  std::set<std::uint64_t> closed_;                                 // groups that were left here
  std::map<std::uint64_t, std::pair<int, AbortNotice>> befallen_;  // before the group was joined here
  std::map<int, Error> losses_;                                    // of those that left, and those that ended
  std::atomic<int> num_losses_{0};
  std::optional<Error> lost_;  // ends every group
  std::unique_ptr<Progress> progress_;

  std::thread watcher_;
};

}  // namespace cohort::comm
