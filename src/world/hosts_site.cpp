#include "world/host_witnesses.h"
#include "world/hosts_world.h"
#include "world/open_meeting.h"
#include "world/site.h"

#include <fmt/format.h>

namespace cohort::world {
namespace {

std::vector<int> ranks_in_job(const Seat& seat) {
  std::vector<int> ranks;
  for (const Member& member : seat.members) ranks.push_back(static_cast<int>(member.id));
  return ranks;
}

/// Ballots on the board of the meeting.
class HostsBoard final : public Board {
 public:
  HostsBoard(net::MeetingWithBoard& meeting, const HostWitnesses& witnesses, const Seat& seat,
             comm::Engine* engine)
      : meeting_(meeting), witnesses_(witnesses), seat_(seat), engine_(engine) {}

  std::vector<comm::Loss> look() override {
    std::vector<comm::Loss> losses = engine_ != nullptr ? engine_->losses() : std::vector<comm::Loss>();
    witnesses_.look(seat_, losses);
    // As the launcher said when this rank last came to the board.
    losses.insert(losses.end(), ended_.begin(), ended_.end());
    return losses;
  }

  Result<Ballots> exchange(const Ballot& mine) override {
    COHORT_ASSIGN_OR_RETURN(
        const auto postings,
        meeting_.post({.name = fmt::format("{}.survivors", seat_.generation),
                       .rank = seat_.rank,
                       .world = seat_.size(),
                       .deadline = deadline_after(std::chrono::steady_clock::now(), kAnswerLimit),
                       .members = ranks_in_job(seat_)},
                      mine.text()));
    Ballots all(postings.size());
    ended_.clear();
    for (std::size_t rank = 0; rank < postings.size(); ++rank) {
      if (postings[rank].has_ended) {
        ended_.push_back({static_cast<int>(rank), comm::Loss::Kind::kGone});
      }
      if (!postings[rank].card) continue;
      COHORT_ASSIGN_OR_RETURN(
          all[rank],
          Ballot::parse(*postings[rank].card, seat_.size()).within(fmt::format("ballot of rank {}", rank)));
    }
    return all;
  }

 private:
  static constexpr std::chrono::seconds kAnswerLimit{5};

  net::MeetingWithBoard& meeting_;
  const HostWitnesses& witnesses_;
  const Seat& seat_;
  comm::Engine* const engine_;
  std::vector<comm::Loss> ended_;
};

class HostsSite final : public Site {
 public:
  HostsSite(std::unique_ptr<net::MeetingWithBoard> meeting, Arena& arena, const net::JobKey& key,
            const HostsOptions& options)
      : options_(options),
        meeting_(std::move(meeting)),
        world_(*meeting_, arena, key, options),
        witnesses_(arena) {}

  Result<std::unique_ptr<Communicator>> form(const Seat& seat) override {
    return world_.form({.generation = seat.generation,
                        .rank = seat.rank,
                        .members = ranks_in_job(seat),
                        .checksum = seat.checksum(),
                        .end = seat.end,
                        .hopeless = [&] { return witnesses_.missing(seat); },
                        .on_met =
                            [&](comm::Neighbours& neighbours, const std::vector<int>& near) {
                              std::vector<std::uint64_t> ids;
                              for (const int rank : near) {
                                ids.push_back(seat.members[static_cast<std::size_t>(rank)].id);
                              }
                              witnesses_.keep(neighbours, ids);
                            }});
  }

  std::vector<int> hosts() const override { return world_.hosts(); }

  Result<std::vector<int>> survivors(const Seat& seat, comm::Engine* engine) override {
    HostsBoard board(*meeting_, witnesses_, seat, engine);
    return agree_on_survivors(board,
                              {.rank = seat.rank,
                               .num_members = seat.size(),
                               .reach = Reach::kHosts,
                               .absence = engine != nullptr ? Absence::kIsAMistake : Absence::kIsSilence,
                               .pause = std::chrono::milliseconds(1),
                               .limit = options_.meeting_limit});
  }

  void leave() override { witnesses_.leave(); }

  std::string explanation() const override {
    if (!world_.pricing()) return "all ranks are on one host: shared memory carries every call\n";
    return explain(world_.plan(), static_cast<int>(world_.hosts().size()), world_.pricing()->sockets);
  }

 private:
  const HostsOptions options_;
  const std::unique_ptr<net::MeetingWithBoard> meeting_;
  HostsWorld world_;
  HostWitnesses witnesses_;
};

}  // namespace

Result<std::unique_ptr<Site>> hosts_site(const LaunchFacts& facts, Arena& arena,
                                         const HostsOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key, job_key(facts));
  COHORT_ASSIGN_OR_RETURN(auto meeting, open_meeting(facts, key));
  return std::unique_ptr<Site>(std::make_unique<HostsSite>(std::move(meeting), arena, key, options));
}

}  // namespace cohort::world
