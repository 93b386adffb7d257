#include "world/ballot.h"

#include "comm/group/rank_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::world {
namespace {

void add_to(std::vector<bool>& set, const std::vector<bool>& others) {
  for (std::size_t i = 0; i < set.size(); ++i) set[i] = set[i] || others[i];
}

bool has_same_losses(const Ballot& one, const Ballot& other) {
  return one.gone == other.gone && one.silent == other.silent;
}

std::string digits_of(const std::vector<bool>& set) {
  std::string text;
  for (const bool is_in : set) text += is_in ? '1' : '0';
  return text;
}

std::vector<int> ranks_that(int size, const auto& predicate) {
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) {
    if (predicate(rank)) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

std::string Ballot::text() const {
  return fmt::format("{} {} {}", is_final ? "final" : "open", digits_of(gone), digits_of(silent));
}

Result<Ballot> Ballot::parse(const std::string& text, int num_members) {
  Ballot ballot(num_members);
  const auto length = static_cast<std::size_t>(num_members);
  ballot.is_final = text.starts_with("final ");
  const std::size_t first = text.find(' ') + 1;
  const bool has_word = ballot.is_final || text.starts_with("open ");
  const auto is_set = [&](std::size_t from) {
    return text.substr(from, length).find_first_not_of("01") == std::string::npos;
  };
  const bool has_shape = has_word && text.size() == first + 2 * length + 1 && text[first + length] == ' ';
  if (!has_shape || !is_set(first) || !is_set(first + length + 1)) {
    return Error(ErrorCode::kCorrupt, fmt::format("corrupt ballot '{}', expected the word open or final and "
                                                  "two sets of {} members",
                                                  text, num_members));
  }
  for (std::size_t i = 0; i < length; ++i) {
    ballot.gone[i] = text[first + i] == '1';
    ballot.silent[i] = text[first + length + 1 + i] == '1';
  }
  return ballot;
}

Ballot next_ballot(const Ballot& mine, const Ballots& all, int rank) {
  // The others may have gone on without a silent member that did not know it: its final ballot does not
  // count.
  for (int other = 0; other < mine.size(); ++other) {
    const auto& ballot = all[static_cast<std::size_t>(other)];
    if (ballot && ballot->is_final && !mine.silent[static_cast<std::size_t>(other)]) return *ballot;
  }
  Ballot next = mine;
  for (int other = 0; other < mine.size(); ++other) {
    const auto& ballot = all[static_cast<std::size_t>(other)];
    if (!ballot || other == rank || mine.has_lost(other)) continue;
    add_to(next.gone, ballot->gone);
    // A member that takes this one for silent is cut off from it, or about to be: it is no witness of
    // silence.
    if (!ballot->silent[static_cast<std::size_t>(rank)]) add_to(next.silent, ballot->silent);
  }
  const auto agrees = [&](int other) {
    if (next.has_lost(other)) return true;
    const auto& ballot = all[static_cast<std::size_t>(other)];
    return other == rank || (ballot && has_same_losses(*ballot, next));
  };
  next.is_final =
      has_same_losses(next, mine) && static_cast<int>(ranks_that(mine.size(), agrees).size()) == mine.size();
  return next;
}

Result<std::vector<int>> survivors_of(const Ballot& ballot, int rank, Reach reach) {
  const std::vector<int> survivors =
      ranks_that(ballot.size(), [&](int other) { return !ballot.has_lost(other); });
  if (ballot.has_lost(rank)) {
    return Error(ErrorCode::kPeerLost, fmt::format("the other members count rank {} as lost", rank))
        .with_rank(rank)
        .with_remedy("End this process: the others go on without it.");
  }
  const std::vector<int> silent = ranks_that(ballot.size(), [&](int other) {
    return ballot.silent[static_cast<std::size_t>(other)] && !ballot.gone[static_cast<std::size_t>(other)];
  });
  const bool are_most = 2 * survivors.size() > ballot.gone.size();
  if (reach == Reach::kOneHost || silent.empty() || are_most) return survivors;
  return Error(ErrorCode::kPeerLost,
               fmt::format(
                   "{} silent, and only {} of {} members are here: the silent ones may be alive and go "
                   "on by themselves",
                   silent.size() == 1 ? comm::ranks_text(silent) + " is" : comm::ranks_text(silent) + " are",
                   survivors.size(), ballot.size()))
      .with_rank(silent.front())
      .with_remedy(
          "Start the job again; more than half of the members must be left to go on without silent ones.");
}

}  // namespace cohort::world
