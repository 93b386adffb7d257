#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "comm/group/communicator.h"
#include "comm/group/engine.h"
#include "launch/environment.h"
#include "world/ballot.h"
#include "world/hosts_options.h"
#include <cohort/member.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cohort {
class Arena;
}

namespace cohort::world {

/// The place of this process in a generation.
struct Seat {
  std::uint32_t generation = 0;
  std::vector<Member> members{};  ///< by rank
  int rank = 0;
  std::shared_ptr<const comm::GenerationEnd> end{};

  int size() const { return static_cast<int>(members.size()); }
  /// A checksum of ids and roles in their order.
  std::uint64_t checksum() const;
};

/// The way in which the members of a job find each other, for all generations: on one host, between hosts, or
/// by MPI.
///
/// Threads: one at a time.
/// Lifetime: the arena must outlive it and every communicator that it formed.
class Site {
 public:
  virtual ~Site() = default;

  /// kUnsupported where no generation can follow the first one.
  virtual Status can_form_again() const { return {}; }
  /// Forms the group of all members of the seat; all of them call this. Engines of earlier generations are
  /// closed. kPeerLost if a member is known to have ended, kTimedOut for members that do not come.
  virtual Result<std::unique_ptr<Communicator>> form(const Seat& seat) = 0;
  /// The host of each member of the last group, by rank.
  virtual std::vector<int> hosts() const = 0;
  /// The ranks of the survivors, the same on each of them. `engine` is null if the seat's group was not
  /// formed.
  virtual Result<std::vector<int>> survivors(const Seat& seat, comm::Engine* engine) = 0;
  /// Says that this process takes part in no later generation.
  virtual void leave() {}
  /// Measurements and choices of the last group, for users.
  virtual std::string explanation() const = 0;
};

/// All members are on this host and meet at an abstract Unix socket.
Result<std::unique_ptr<Site>> one_host_site(const LaunchFacts& facts, Arena& arena,
                                            const HostsOptions& options);
/// Members are on several hosts. kUsage without a rendezvous or a key.
Result<std::unique_ptr<Site>> hosts_site(const LaunchFacts& facts, Arena& arena, const HostsOptions& options);
/// An MPI launcher has started the members; kUsage otherwise.
///
/// Failure: if the MPI library is not fault-tolerant, a failure of the group ends the job: the cause goes to
/// standard error, and all ranks end with the exit code of the error. A call cannot be given up otherwise:
/// MPI would go on writing to its buffers.
/// Cost: see mpi::MpiCommunicator and mpi::own_library().
Result<std::unique_ptr<Site>> mpi_site(const LaunchFacts& facts, const HostsOptions& options);

/// Where the members of a generation lay down their ballots, and what this process sees of the others.
///
/// Threads: one at a time.
class Board {
 public:
  virtual ~Board() = default;
  /// The losses that this process knows of.
  virtual std::vector<comm::Loss> look() = 0;
  /// Lays down a ballot in the place of the last one, then reads those of all members.
  virtual Result<Ballots> exchange(const Ballot& mine) = 0;
};

/// The meaning of a member that lives, as far as anybody knows, and does not come to the board.
enum class Absence {
  kIsAMistake,  ///< its connections were watched until now: it lives, and has not called survivors()
  kIsSilence,   ///< its generation was not formed, so nobody has watched it: it may have been lost meanwhile
};

struct AgreementOptions {
  int rank = 0;
  int num_members = 1;
  Reach reach = Reach::kOneHost;
  Absence absence = Absence::kIsAMistake;
  std::chrono::nanoseconds pause = std::chrono::microseconds(100);  ///< between looks, at first
  /// How long to wait for a member that does not come, or, if absence is silence, that does not react.
  std::chrono::nanoseconds limit = DefaultLimit::kMeeting;
};

/// Agrees with the other survivors who they are. kTimedOut names members that live but do not come to the
/// board; otherwise as survivors_of().
/// Cost: if absence is silence, the limit may pass once for each ballot of a member that is lost meanwhile.
Result<std::vector<int>> agree_on_survivors(Board& board, const AgreementOptions& options);

}  // namespace cohort::world
