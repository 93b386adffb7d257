#include "world/site.h"

#include "base/checksum.h"
#include "comm/group/rank_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <thread>

namespace cohort::world {
namespace {

constexpr std::chrono::milliseconds kLongestLook(2);

void add_evidence(const comm::Loss& loss, const Ballots& all, Ballot& ballot) {
  const auto member = static_cast<std::size_t>(loss.member);
  // A member says farewell to a generation after its end, too: its last ballot is final then.
  if (loss.kind == comm::Loss::Kind::kLeft && !all[member]) ballot.gone[member] = true;
  if (loss.kind == comm::Loss::Kind::kGone) ballot.gone[member] = true;
  if (loss.kind == comm::Loss::Kind::kSilent) ballot.silent[member] = true;
}

bool has_final(const Ballots& all) {
  return std::any_of(all.begin(), all.end(), [](const auto& ballot) { return ballot && ballot->is_final; });
}

// The members that keep this one waiting: they have laid down no ballot, or one that stays behind ours.
std::vector<int> awaited(const AgreementOptions& options, const Ballot& mine, const Ballots& all) {
  std::vector<int> ranks;
  for (int rank = 0; rank < options.num_members; ++rank) {
    if (rank == options.rank || mine.has_lost(rank)) continue;
    const auto& ballot = all[static_cast<std::size_t>(rank)];
    if (!ballot || ballot->gone != mine.gone || ballot->silent != mine.silent) ranks.push_back(rank);
  }
  return ranks;
}

Error not_come(const AgreementOptions& options, const Ballot& mine, const Ballots& all) {
  std::vector<int> absent;
  for (int rank = 0; rank < options.num_members; ++rank) {
    if (!mine.has_lost(rank) && !all[static_cast<std::size_t>(rank)]) absent.push_back(rank);
  }
  const std::string who = absent.empty() ? std::string("the members have") : comm::ranks_have(absent);
  const Error error =
      Error(ErrorCode::kTimedOut,
            fmt::format("rank {} looks for survivors, but {} not come, and nothing says "
                        "that their processes have ended",
                        options.rank, who))
          .with_remedy(
              "Call survivors() on every member after a failure, or raise ContextOptions::meeting_limit.");
  return absent.empty() ? error : error.with_rank(absent.front());
}

}  // namespace

std::uint64_t Seat::checksum() const {
  ContentHash hash;
  for (const Member& member : members) {
    const std::array<std::uint64_t, 2> facts = {member.id, static_cast<std::uint64_t>(member.role)};
    hash.add(std::as_bytes(std::span(facts)));
  }
  return hash.value();
}

Result<std::vector<int>> agree_on_survivors(Board& board, const AgreementOptions& options) {
  TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), options.limit);
  std::chrono::nanoseconds pause = options.pause;
  Ballot mine(options.num_members);
  while (true) {
    const bool is_late = std::chrono::steady_clock::now() >= deadline;
    // Losses first: the last ballot of a member that was lost by now is read after its end.
    const std::vector<comm::Loss> losses = board.look();
    const Result<Ballots> exchanged = board.exchange(mine);
    if (!exchanged) {  // a launcher that is slow to answer is no reason to give up
      if (is_late || exchanged.error().code() != ErrorCode::kTimedOut) return exchanged.error();
      continue;
    }
    const Ballots& all = *exchanged;
    Ballot next = next_ballot(mine, all, options.rank);
    if (!next.is_final || !has_final(all)) {
      Ballot known = mine;
      for (const comm::Loss& loss : losses) add_evidence(loss, all, known);
      if (known != mine) next = known;
    }
    if (next.is_final) {
      Result<std::vector<int>> survivors = survivors_of(next, options.rank, options.reach);
      if (survivors || has_final(all) || is_late) {
        COHORT_RETURN_IF_ERROR(board.exchange(next));
        return survivors;
      }
      // Better evidence may be on its way: the launcher reaps processes while members only miss them.
      next = mine;
    }
    if (next == mine && is_late && options.absence == Absence::kIsSilence) {
      for (const int rank : awaited(options, mine, all)) next.silent[static_cast<std::size_t>(rank)] = true;
    }
    if (next != mine) {
      mine = next;
      // The others react to the ballot at once if they live. Ballots only grow, so this ends.
      if (options.absence == Absence::kIsSilence) {
        deadline = deadline_after(std::chrono::steady_clock::now(), options.limit);
      }
      continue;
    }
    if (is_late) return not_come(options, mine, all);
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::nanoseconds>(2 * pause, kLongestLook);
  }
}

}  // namespace cohort::world
