#pragma once

#include "world/site.h"

#include <memory>
#include <string>
#include <vector>

namespace cohort::world {

/// This process as a member of a job, from generation to generation.
///
/// Threads: one at a time.
/// Lifetime: the arena must outlive it and its groups. Groups of earlier generations stay valid objects whose
/// calls return kStale.
/// Failure: a generation that could not be formed counts: survivors() and form() go on from it.
class Membership {
 public:
  /// The groups of one generation in this process.
  struct Groups {
    std::unique_ptr<Communicator> everyone{};  ///< null if all members have the same role: `own` is the group
    std::unique_ptr<Communicator> own{};       ///< the members of the own role
  };

  /// Joins the job that the launcher has started: its first generation. Rank, number of ranks, roles,
  /// encryption, network interfaces and the cache of links come from `facts`; links that `options` set win
  /// over those of `facts`.
  ///
  /// Failure: kUsage if the launcher gave no rendezvous or, for several hosts, no key, or if the settings do
  /// not fit the launcher; kTimedOut names the ranks that are missing.
  static Result<std::unique_ptr<Membership>> join(const LaunchFacts& facts, Arena& arena,
                                                  const HostsOptions& options);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  std::uint32_t generation() const { return seat_.generation; }
  const std::vector<Member>& members() const { return seat_.members; }
  /// This process.
  const Member& own() const { return seat_.members[static_cast<std::size_t>(seat_.rank)]; }
  /// The groups of the last join() or form(), once.
  Groups take_groups() { return std::move(groups_); }
  /// Measurements and choices, if LinkSettings::explain is set.
  std::string explanation() const;

  /// Ends the calls of this generation, here and at all members, and returns the members that are left.
  Result<std::vector<Member>> survivors();
  /// Forms the next generation of these members. Each of them calls this.
  Status form(const std::vector<Member>& members);

 private:
  Membership(std::unique_ptr<Site> site, const HostsOptions& options, Seat seat);

  Result<Seat> next_seat(const std::vector<Member>& members) const;
  Status leave_generation(std::uint32_t later);
  Status take_seat();
  Result<Groups> divided(std::unique_ptr<Communicator> everyone) const;

  const std::unique_ptr<Site> site_;
  const HostsOptions options_;
  Seat seat_;
  std::shared_ptr<comm::GenerationEnd> end_;  // of the groups of this generation
  std::shared_ptr<comm::Engine> engine_;      // null if this generation was not formed
  Groups groups_;
};

}  // namespace cohort::world
