#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

// How the survivors of a generation agree who they are. Members are numbered by their ranks in it.
//
// Every survivor lays down a ballot: the members that it knows to be lost. It adds the losses on the ballots
// of the others, and lays down its ballot again, until all members that are not on it show the same ballot.
// That ballot is final. A member that finds a final ballot takes it over, unless it suspects the one that
// laid it down.
//
// Why no two survivors end with different ballots S and S': ballots only grow. Each of the two members showed
// the ballot of the other one at some time, and its own one at the end, so S is in S' and S' in S. If one of
// them is on the ballot of the other, because its process has ended, then the other one has looked at its
// last ballot after the end, and would have taken over a final one. A member that is merely suspected,
// because it is silent, may end with another ballot: it is no survivor for the others, and is told or killed.

namespace cohort::world {

/// The members that one member knows to be lost.
struct Ballot {
  Ballot() = default;
  explicit Ballot(int num_members)
      : gone(static_cast<std::size_t>(num_members)), silent(static_cast<std::size_t>(num_members)) {}

  std::vector<bool> gone{};    ///< by rank: its process has ended, or it has left
  std::vector<bool> silent{};  ///< by rank: nothing comes from it, although its process may still run
  bool is_final = false;

  int size() const { return static_cast<int>(gone.size()); }
  bool has_lost(int rank) const {
    return gone[static_cast<std::size_t>(rank)] || silent[static_cast<std::size_t>(rank)];
  }
  bool operator==(const Ballot&) const = default;

  /// `open 0100 0001`, `final 0100 0001`: the sets `gone` and `silent`, one digit for each rank.
  std::string text() const;
  /// kCorrupt for any other text.
  static Result<Ballot> parse(const std::string& text, int num_members);
};

/// By rank; nothing from members that have laid down none.
using Ballots = std::vector<std::optional<Ballot>>;

/// The ballot that `rank` lays down after `mine`, which it has laid down, once it has read `all`.
Ballot next_ballot(const Ballot& mine, const Ballots& all, int rank);

/// Whether the members of a generation are on one host: if so, the kernel says who lives, and silence is
/// judged by heartbeats. Between hosts, a silent member may be alive behind a broken link.
enum class Reach { kOneHost, kHosts };

/// The survivors, from a final ballot. kPeerLost if `rank` is none of them; or if members on other hosts are
/// merely silent and the survivors are no more than half of the generation: the silent ones may go on, too.
Result<std::vector<int>> survivors_of(const Ballot& ballot, int rank, Reach reach);

}  // namespace cohort::world
