#include "world/membership.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace cohort::world {
namespace {

std::vector<Member> first_members(const LaunchFacts& facts) {
  std::vector<Member> members;
  for (int rank = 0; rank < facts.world; ++rank) {
    members.push_back({.id = static_cast<std::uint64_t>(rank), .role = facts.roles.of(rank, facts.world)});
  }
  return members;
}

// Whether all ranks are on this host and meet at an abstract Unix socket.
bool is_on_one_host(const LaunchFacts& facts) {
  const Rendezvous& rendezvous = facts.rendezvous;
  return facts.local_size == facts.world && rendezvous.server.empty() && !rendezvous.directory;
}

Result<std::unique_ptr<Site>> site_of(const LaunchFacts& facts, Arena& arena, const HostsOptions& options) {
  if (options.links.backend == Backend::kMpi) return mpi_site(facts, options);
  return is_on_one_host(facts) ? one_host_site(facts, arena, options) : hosts_site(facts, arena, options);
}

Error wrong_list(const std::string& what) {
  return Error(ErrorCode::kUsage, what)
      .with_remedy(
          "Pass members that survivors() or members() returned, this process among them, each once.");
}

}  // namespace

Membership::Membership(std::unique_ptr<Site> site, const HostsOptions& options, Seat seat)
    : site_(std::move(site)), options_(options), seat_(std::move(seat)) {}

// The others hear the farewell of the engine before they may form without this member: a fence kills
// processes that still share memory.
Membership::~Membership() {
  groups_ = {};
  engine_.reset();
  site_->leave();
}

Result<std::unique_ptr<Membership>> Membership::join(const LaunchFacts& facts, Arena& arena,
                                                     const HostsOptions& options) {
  HostsOptions settled = options;
  settled.rank = facts.rank;
  settled.world = facts.world;
  settled.secrecy = facts.links.encrypts ? net::Secrecy::kTls : net::Secrecy::kClear;
  settled.interfaces = facts.links.interfaces;
  settled.links = options.links.over(facts.links.settings);
  settled.link_cache = facts.links.cache;
  COHORT_RETURN_IF_ERROR(check_links(settled.links));
  COHORT_ASSIGN_OR_RETURN(auto site, site_of(facts, arena, settled));
  std::unique_ptr<Membership> membership(
      new Membership(std::move(site), settled,
                     {.generation = static_cast<std::uint32_t>(facts.generation),
                      .members = first_members(facts),
                      .rank = facts.rank}));
  COHORT_RETURN_IF_ERROR(membership->take_seat());
  return membership;
}

std::string Membership::explanation() const {
  return options_.links.explain.value_or(false) ? site_->explanation() : "";
}

Status Membership::take_seat() {
  end_ = std::make_shared<comm::GenerationEnd>();
  seat_.end = end_;
  COHORT_ASSIGN_OR_RETURN(auto everyone, site_->form(seat_));
  engine_ = everyone->engine();
  const std::vector<int> hosts = site_->hosts();
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) seat_.members[rank].host = hosts[rank];
  COHORT_ASSIGN_OR_RETURN(groups_, divided(std::move(everyone)));
  return {};
}

Result<Membership::Groups> Membership::divided(std::unique_ptr<Communicator> everyone) const {
  const bool is_of_one_role = std::all_of(seat_.members.begin(), seat_.members.end(),
                                          [&](const Member& member) { return member.role == own().role; });
  Groups groups;
  if (is_of_one_role) {
    groups.own = std::move(everyone);
    return groups;
  }
  COHORT_ASSIGN_OR_RETURN(
      groups.own, everyone->split(static_cast<int>(own().role), 0, fmt::format("{}s", name(own().role))));
  groups.everyone = std::move(everyone);
  return groups;
}

Result<std::vector<Member>> Membership::survivors() {
  COHORT_RETURN_IF_ERROR(site_->can_form_again());
  if (engine_) {
    engine_->end(Error(ErrorCode::kAborted, fmt::format("rank {} looks for the survivors of generation {}",
                                                        seat_.rank, seat_.generation))
                     .with_remedy("Call survivors() on every member, then form()."));
  }
  COHORT_ASSIGN_OR_RETURN(const std::vector<int> ranks, site_->survivors(seat_, engine_.get()));
  std::vector<Member> members;
  for (const int rank : ranks) members.push_back(seat_.members[static_cast<std::size_t>(rank)]);
  return members;
}

Result<Seat> Membership::next_seat(const std::vector<Member>& members) const {
  Seat seat{.generation = seat_.generation + 1, .rank = -1};
  std::set<std::uint64_t> seen;
  for (const Member& member : members) {
    const auto known = std::find_if(seat_.members.begin(), seat_.members.end(),
                                    [&](const Member& other) { return other.id == member.id; });
    if (known == seat_.members.end()) {
      return wrong_list(fmt::format("there is no member {} in generation {}", member.id, seat_.generation));
    }
    if (!seen.insert(member.id).second) {
      return wrong_list(fmt::format("member {} is listed twice", member.id));
    }
    if (member.id == own().id) seat.rank = seat.size();
    seat.members.push_back({member.id, member.role, known->host});
  }
  if (seat.rank < 0) return wrong_list(fmt::format("this process, member {}, is not in the list", own().id));
  return seat;
}

// Groups of the old generation may still be held: by trainers, say.
Status Membership::leave_generation(std::uint32_t later) {
  groups_ = {};
  end_->pass_to(later);
  if (!engine_) return {};
  const Error over =
      Error(ErrorCode::kStale, fmt::format("generation {} is over: rank {} forms generation {}",
                                           seat_.generation, seat_.rank, later))
          .with_remedy("Make groups and trainers again from the Context after form().");
  COHORT_RETURN_IF_ERROR(
      engine_->close(over, deadline_after(std::chrono::steady_clock::now(), options_.meeting_limit)));
  engine_.reset();
  return {};
}

Status Membership::form(const std::vector<Member>& members) {
  COHORT_RETURN_IF_ERROR(site_->can_form_again());
  COHORT_ASSIGN_OR_RETURN(Seat next, next_seat(members));
  COHORT_RETURN_IF_ERROR(leave_generation(next.generation));
  seat_ = std::move(next);
  return take_seat().within(
      fmt::format("cannot form generation {} of {} members", seat_.generation, seat_.size()));
}

}  // namespace cohort::world
