#include "comm/shared_memory/communicator.h"
#include "launch/variables.h"
#include "world/host_witnesses.h"
#include "world/site.h"

#include <fmt/format.h>

namespace cohort::world {
namespace {

Result<std::string> meeting_name(const LaunchFacts& facts) {
  if (facts.rendezvous.unix_name) return *facts.rendezvous.unix_name;
  if (facts.world > 1) {
    return Error(ErrorCode::kUsage,
                 fmt::format("{} started {} ranks without a rendezvous", name(facts.launcher), facts.world))
        .with_remedy(
            "Set COHORT_RENDEZVOUS=unix:NAME, the same for all ranks of the job, or start them with cohort "
            "run.");
  }
  return launch::fresh_unix_name();
}

/// Ballots in the first pages of the arenas.
class HostBoard final : public Board {
 public:
  HostBoard(HostWitnesses& witnesses, const Seat& seat, comm::Engine* engine)
      : witnesses_(witnesses), seat_(seat), engine_(engine) {}

  std::vector<comm::Loss> look() override {
    std::vector<comm::Loss> losses = engine_ != nullptr ? engine_->losses() : std::vector<comm::Loss>();
    witnesses_.look(seat_, losses);
    return losses;
  }
  Result<Ballots> exchange(const Ballot& mine) override {
    witnesses_.write(seat_, mine);
    Ballots all;
    for (int rank = 0; rank < seat_.size(); ++rank) all.push_back(witnesses_.read(seat_, rank));
    return all;
  }

 private:
  HostWitnesses& witnesses_;
  const Seat& seat_;
  comm::Engine* const engine_;
};

class OneHostSite final : public Site {
 public:
  OneHostSite(std::string rendezvous, Arena& arena, HostsOptions options)
      : rendezvous_(std::move(rendezvous)), arena_(arena), options_(std::move(options)), witnesses_(arena) {}

  Result<std::unique_ptr<Communicator>> form(const Seat& seat) override {
    const GroupFacts facts{.rank = seat.rank,
                           .world = seat.size(),
                           .generation = seat.generation,
                           .limit = options_.limit,
                           .end = seat.end};
    COHORT_ASSIGN_OR_RETURN(
        std::shared_ptr<comm::Neighbours> neighbours,
        comm::Neighbours::meet(arena_, {.rendezvous = rendezvous_,
                                        .facts = facts,
                                        .liveness = options_.liveness,
                                        .meeting_limit = options_.meeting_limit,
                                        .members = seat.checksum(),
                                        .hopeless = [&] { return witnesses_.missing(seat); },
                                        .warn = options_.warn}));
    std::vector<std::uint64_t> ids;
    for (const Member& member : seat.members) ids.push_back(member.id);
    witnesses_.keep(*neighbours, ids);
    num_members_ = seat.members.size();
    return SharedMemoryCommunicator::of(neighbours, facts);
  }

  std::vector<int> hosts() const override { return std::vector<int>(num_members_); }

  Result<std::vector<int>> survivors(const Seat& seat, comm::Engine* engine) override {
    HostBoard board(witnesses_, seat, engine);
    return agree_on_survivors(board,
                              {.rank = seat.rank,
                               .num_members = seat.size(),
                               .reach = Reach::kOneHost,
                               .absence = engine != nullptr ? Absence::kIsAMistake : Absence::kIsSilence,
                               .limit = options_.meeting_limit});
  }

  void leave() override { witnesses_.leave(); }

  std::string explanation() const override {
    return "all ranks are on one host: shared memory carries every call\n";
  }

 private:
  const std::string rendezvous_;
  Arena& arena_;
  const HostsOptions options_;
  HostWitnesses witnesses_;
  std::size_t num_members_ = 0;
};

}  // namespace

Result<std::unique_ptr<Site>> one_host_site(const LaunchFacts& facts, Arena& arena,
                                            const HostsOptions& options) {
  COHORT_ASSIGN_OR_RETURN(std::string rendezvous, meeting_name(facts));
  return std::unique_ptr<Site>(std::make_unique<OneHostSite>(std::move(rendezvous), arena, options));
}

}  // namespace cohort::world
