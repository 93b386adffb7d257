#include "comm/shared_memory/meeting.h"

#include "base/system_error.h"
#include "comm/group/rank_text.h"
#include "comm/shared_memory/control_packets.h"
#include "comm/shared_memory/packet_socket.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace cohort::comm {
namespace {

constexpr std::chrono::microseconds kFirstPause(100);
constexpr std::chrono::milliseconds kLongestPause(2);
constexpr std::chrono::milliseconds kBetweenLooks(5);
// A process that connects and sends no hello is dropped after this time.
constexpr std::chrono::milliseconds kHelloLimit(2000);

std::string name_of(const MeetingOptions& options, int rank) {
  return fmt::format("{}.{}.{}", options.name, options.facts.generation, rank);
}

/// Connects one rank to all others.
class Meeting {
 public:
  Meeting(const MeetingOptions& options, Arena& arena) : options_(options), arena_(arena) {
    found_.resize(static_cast<std::size_t>(options.facts.world));
  }

  Result<std::vector<std::optional<Neighbour>>> run() {
    COHORT_ASSIGN_OR_RETURN(const Descriptor listener, listen_at(name_of(options_, options_.facts.rank)));
    for (int rank = 0; rank < options_.facts.rank; ++rank) COHORT_RETURN_IF_ERROR(call_on(rank));
    while (!missing().empty()) COHORT_RETURN_IF_ERROR(receive_one(listener));
    return std::move(found_);
  }

 private:
  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int rank = 0; rank < options_.facts.world; ++rank) {
      if (rank != options_.facts.rank && !found_[static_cast<std::size_t>(rank)]) ranks.push_back(rank);
    }
    return ranks;
  }

  Status check_hope() const {
    if (!options_.hopeless) return {};
    if (const std::optional<Error> error = options_.hopeless()) return *error;
    return {};
  }

  Error not_connected() const {
    const std::vector<int> absent = options_.facts.global(missing());
    return Error(
               ErrorCode::kTimedOut,
               fmt::format("rank {}: {} not connected to rendezvous '{}' (generation {}) before the deadline",
                           options_.facts.own_global_rank(), ranks_have(absent), options_.name,
                           options_.facts.generation))
        .with_rank(absent.front())
        .with_remedy("Check that those ranks were started and are still running.");
  }

  /// Connects to a lower rank; retries until that rank listens.
  Status call_on(int rank) {
    for (std::chrono::nanoseconds pause = kFirstPause;;
         pause = std::min<std::chrono::nanoseconds>(2 * pause, kLongestPause)) {
      COHORT_ASSIGN_OR_RETURN(std::optional<Descriptor> socket, try_connect(name_of(options_, rank)));
      if (socket) {
        COHORT_ASSIGN_OR_RETURN(const bool met, greet(*std::move(socket), options_.deadline, rank));
        if (met) return {};
      }
      COHORT_RETURN_IF_ERROR(check_hope());
      if (std::chrono::steady_clock::now() >= options_.deadline) return not_connected();
      std::this_thread::sleep_for(pause);
    }
  }

  Status receive_one(const Descriptor& listener) {
    const TimePoint now = std::chrono::steady_clock::now();
    const TimePoint next_look = options_.hopeless ? now + kBetweenLooks : options_.deadline;
    Result<Descriptor> socket = accept_by(listener, std::min(next_look, options_.deadline));
    if (!socket && socket.error().code() != ErrorCode::kTimedOut) return socket.error();
    if (!socket) return now >= options_.deadline ? Status(not_connected()) : check_hope();
    const TimePoint limit =
        std::min(options_.deadline, deadline_after(std::chrono::steady_clock::now(), kHelloLimit));
    COHORT_ASSIGN_OR_RETURN(const bool met, greet(*std::move(socket), limit, std::nullopt));
    (void)met;  // false: the other end is not a rank of this job, and its connection is closed
    return {};
  }

  /// Exchanges hellos. False if the other end is not a rank of this job.
  Result<bool> greet(Descriptor socket, TimePoint deadline, std::optional<int> expected) {
    COHORT_ASSIGN_OR_RETURN(const PeerCredentials peer, credentials_of(socket));
    if (peer.user != ::geteuid()) {
      if (!expected) return false;
      return Error(ErrorCode::kPermission,
                   fmt::format("rank {}: the socket name of rank {} is taken by process {} of user {}",
                               options_.facts.own_global_rank(), options_.facts.global_rank(*expected),
                               peer.process, peer.user))
          .with_remedy("Choose another rendezvous name.");
    }
    const Hello mine{.rank = static_cast<std::uint32_t>(options_.facts.rank),
                     .world = static_cast<std::uint32_t>(options_.facts.world),
                     .generation = options_.facts.generation,
                     .members = options_.members,
                     .arena_bytes = arena_.capacity_bytes()};
    if (!send_packet(socket, mine.encode(), arena_.file())) return false;
    Result<std::optional<Packet>> packet = receive_packet(socket, 4096, deadline);
    if (!packet || !*packet) return false;
    const Result<Hello> hello = Hello::decode((*packet)->bytes);
    if (!hello) {
      if (hello.error().code() == ErrorCode::kUnsupported) return hello.error();
      return false;
    }
    return admit(std::move(socket), peer, *hello, std::move((*packet)->descriptor));
  }

  Result<bool> admit(Descriptor socket, const PeerCredentials& peer, const Hello& hello, Descriptor file) {
    if (hello.world != static_cast<std::uint32_t>(options_.facts.world)) {
      return Error(ErrorCode::kUsage,
                   fmt::format("rank {} was started with {} ranks on this host, process {} with {}",
                               options_.facts.own_global_rank(), options_.facts.world, peer.process,
                               hello.world))
          .with_remedy("Start all ranks with the same number of ranks.");
    }
    if (hello.generation != options_.facts.generation || hello.rank >= hello.world) return false;
    const int theirs = options_.facts.global_rank(static_cast<int>(hello.rank));
    if (hello.members != options_.members) {
      return Error(ErrorCode::kUsage,
                   fmt::format("rank {} and rank {} (process {}) have different lists of "
                               "the members of generation {}",
                               options_.facts.own_global_rank(), theirs, peer.process, hello.generation))
          .with_rank(theirs)
          .with_remedy("Pass the same members, roles and order to form() on every member.");
    }
    std::optional<Neighbour>& neighbour = found_[hello.rank];
    if (neighbour || hello.rank == static_cast<std::uint32_t>(options_.facts.rank)) return false;
    if (!file.is_open() || !is_sealed(file, hello.arena_bytes)) return false;
    COHORT_ASSIGN_OR_RETURN(Mapping mapping,
                            Mapping::of(file, hello.arena_bytes, 1 + static_cast<int>(hello.rank)));
    COHORT_ASSIGN_OR_RETURN(Witness witness, Witness::of(peer.process, file));
    COHORT_RETURN_IF_ERROR(remember(theirs, peer.process));
    neighbour.emplace(Neighbour{std::move(mapping), std::move(socket), std::move(witness)});
    return true;
  }

  /// A file that could shrink would end every access of ours with SIGBUS.
  static bool is_sealed(const Descriptor& file, std::uint64_t size_bytes) {
    struct stat facts {};
    if (::fstat(file.number(), &facts) != 0 || static_cast<std::uint64_t>(facts.st_size) != size_bytes) {
      return false;
    }
    const int seals = ::fcntl(file.number(), F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
  }

  Status remember(int global_rank, pid_t process) {
    if (process == ::getpid()) return {};
    Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    if (!pidfd.is_open() && errno == ESRCH) {
      return Error(ErrorCode::kPeerLost,
                   fmt::format("rank {} (process {}) ended while the ranks were connecting", global_rank,
                               process))
          .with_rank(global_rank)
          .with_remedy(fmt::format("Look at the output of rank {}.", global_rank));
    }
    if (!pidfd.is_open()) {
      return system_error(fmt::format("cannot open a pidfd of process {}", process), errno);
    }
    arena_.shared_with(process, std::move(pidfd));
    return {};
  }

  const MeetingOptions& options_;
  Arena& arena_;
  std::vector<std::optional<Neighbour>> found_;
};

}  // namespace

Result<std::vector<std::optional<Neighbour>>> meet(const MeetingOptions& options, Arena& arena) {
  return Meeting(options, arena).run();
}

}  // namespace cohort::comm
