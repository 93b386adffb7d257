#include "comm/schedule/hierarchical.h"

#include "base/check.h"
#include "comm/schedule/direct.h"
#include "comm/schedule/dissemination.h"
#include "comm/schedule/doubling.h"
#include "comm/schedule/fold.h"
#include "comm/schedule/hosts.h"
#include "comm/schedule/tree.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// Ranks at positions that the smallest host does not have get empty segments.
Cut segments_of(Memory memory, std::size_t count, int num_segments, int num_ranks) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < num_ranks; ++rank) {
    counts.push_back(rank < num_segments ? even_part(count, rank, num_segments).count : 0);
  }
  return Cut::by(memory, counts);
}

void all_reduce(ScheduleBuilder& builder, const CallFacts& facts, const Hosts& hosts) {
  const Team local = hosts.local_team(facts.rank);
  const Cut from = segments_of(Memory::kInput, facts.count, hosts.smallest(), local.size());
  const Cut to = segments_of(Memory::kOutput, facts.count, hosts.smallest(), local.size());
  const Region segment = to.part(local.me);
  direct_reduce_scatter(builder, local, from, segment, facts.chunk_length);
  if (local.me < hosts.smallest()) {
    const Team across = hosts.team_across(local.me, facts.rank);
    const Cut parts = Cut::evenly(segment, across.size());
    doubling_reduce_scatter(builder, across, parts, parts.part(across.me), facts.chunk_length);
    round_in_chunks(builder, parts.part(across.me), facts.chunk_length);
    doubling_all_gather(builder, across, parts, facts.chunk_length);
  }
  direct_all_gather(builder, local, to, facts.chunk_length);
}

void broadcast(ScheduleBuilder& builder, const CallFacts& facts, const Hosts& hosts) {
  const Region output{Memory::kOutput, 0, facts.count};
  if (facts.rank == facts.root) builder.copy({Memory::kInput, 0, facts.count}, output);
  const int root_host = hosts.host_of(facts.root);
  const int own_host = hosts.host_of(facts.rank);
  // One rank per host: the root for its own host, the first rank for every other.
  Team leaders{.ranks = {}, .me = own_host};
  for (int host = 0; host < hosts.num_hosts(); ++host) {
    leaders.ranks.push_back(host == root_host ? facts.root : hosts.members(host).front());
  }
  const int leader = leaders.at(own_host);
  if (facts.rank == leader) tree_broadcast(builder, leaders, root_host, output);
  tree_broadcast(builder, hosts.local_team(facts.rank), hosts.position_of(leader), output);
}

// The rank of a host that receives the part of a rank on another host.
int receiver_of(const Hosts& hosts, int part, int host) {
  const auto& members = hosts.members(host);
  return members[static_cast<std::size_t>(hosts.position_of(part)) % members.size()];
}

void hand_on(ScheduleBuilder& builder, const Team& local, Region part) {
  for (int distance = 1; distance < local.size(); ++distance) {
    builder.send(local.at(local.me + distance), part);
  }
}

void all_gather(ScheduleBuilder& builder, const CallFacts& facts, const Hosts& hosts) {
  const Cut to = Cut::by(Memory::kOutput, facts.parts);
  const Team local = hosts.local_team(facts.rank);
  const int own_host = hosts.host_of(facts.rank);
  const Region own = to.part(facts.rank);
  builder.copy({Memory::kInput, 0, own.count}, own);
  for (int distance = 1; distance < hosts.num_hosts(); ++distance) {
    builder.send(receiver_of(hosts, facts.rank, around(own_host, distance, hosts.num_hosts())), own);
  }
  // All ranks forward parts in the order of hosts and ranks, so that sends and receives of a pair match.
  hand_on(builder, local, own);
  for (const int rank : local.ranks) {
    if (rank != facts.rank) builder.recv(rank, to.part(rank));
  }
  for (int distance = 1; distance < hosts.num_hosts(); ++distance) {
    for (const int part : hosts.members(around(own_host, -distance, hosts.num_hosts()))) {
      const int receiver = receiver_of(hosts, part, own_host);
      builder.recv(receiver == facts.rank ? part : receiver, to.part(part));
      if (receiver == facts.rank) hand_on(builder, local, to.part(part));
    }
  }
}

// The rank of a host that reduces a part over its host: the owner of the part, or the rank that sends it to
// the owner's host.
int collector_of(const Hosts& hosts, int part, int host) {
  return hosts.host_of(part) == host ? part : receiver_of(hosts, part, host);
}

// Parts of other hosts come first, in the same order on all ranks, so that sends and receives of a pair
// match.
std::vector<int> parts_in_order(const Hosts& hosts, int world, int host) {
  std::vector<int> parts;
  for (int part = 0; part < world; ++part) {
    if (hosts.host_of(part) != host) parts.push_back(part);
  }
  for (const int part : hosts.members(host)) parts.push_back(part);
  return parts;
}

void send_in_chunks(ScheduleBuilder& builder, int peer, Region from, std::size_t chunk_length) {
  for (const Region chunk : chunks_of(from, chunk_length)) builder.send(peer, chunk);
}

void reduce_scatter(ScheduleBuilder& builder, const CallFacts& facts, const Hosts& hosts) {
  const Cut from = Cut::by(Memory::kInput, facts.parts);
  const Region own{Memory::kOutput, 0, from.part(facts.rank).count};
  const Team local = hosts.local_team(facts.rank);
  const int own_host = hosts.host_of(facts.rank);
  const std::vector<int> parts = parts_in_order(hosts, facts.world, own_host);
  for (const int part : parts) {
    const int collector = collector_of(hosts, part, own_host);
    if (collector != facts.rank) send_in_chunks(builder, collector, from.part(part), facts.chunk_length);
  }
  for (const int part : parts) {
    if (collector_of(hosts, part, own_host) != facts.rank) continue;
    const Region sum = part == facts.rank ? own : builder.scratch(from.part(part).count);
    copy_in_chunks(builder, from.part(part), sum, facts.chunk_length);
    fold_in_order(builder, local, sum, FoldRoom::kAll, facts.chunk_length);
    if (part != facts.rank) send_in_chunks(builder, part, sum, facts.chunk_length);
  }
  Team across{.ranks = {}, .me = own_host};
  for (int host = 0; host < hosts.num_hosts(); ++host) {
    across.ranks.push_back(collector_of(hosts, facts.rank, host));
  }
  fold_in_order(builder, across, own, FoldRoom::kAll, facts.chunk_length);
}

void barrier(ScheduleBuilder& builder, const CallFacts& facts, const Hosts& hosts) {
  const std::vector<int>& local = hosts.members(hosts.host_of(facts.rank));
  if (facts.rank != local.front()) {
    builder.send_signal(local.front());
    builder.receive_signal(local.front());
    return;
  }
  std::vector<int> known;
  for (std::size_t other = 1; other < local.size(); ++other) {
    known.push_back(builder.receive_signal(local[other]));
  }
  known = disseminate(builder, hosts.team_across(0, facts.rank), known);
  for (std::size_t other = 1; other < local.size(); ++other) builder.send_signal(local[other], known);
}

// The most parts of other hosts that one rank receives and forwards.
std::size_t num_handed_on(const Hosts& hosts) {
  const auto smallest = static_cast<std::size_t>(hosts.smallest());
  return static_cast<std::size_t>(hosts.num_hosts() - 1) *
         ((static_cast<std::size_t>(hosts.largest()) + smallest - 1) / smallest);
}

Effort all_reduce_effort(const CallFacts& facts, const Hosts& hosts) {
  const auto ranks = static_cast<std::size_t>(hosts.largest());
  const std::size_t segment = even_part(facts.count, 0, hosts.smallest()).count;
  const Effort across = doubling_effort({.operation = Operation::kAllReduce,
                                         .world = hosts.num_hosts(),
                                         .count = segment,
                                         .chunk_length = facts.chunk_length});
  // Inside a host, a rank with a segment sends the other segments and receives its own from every rank; then
  // the opposite.
  const std::size_t inside = (facts.count - segment) + (ranks - 1) * segment;
  return {.steps = 2 * (ranks - 1) * num_chunks(segment, facts.chunk_length),
          .moved = inside,
          .combined = (ranks - 1) * segment + across.combined,
          .exposed = (ranks - 1) * longest_chunk(segment, facts.chunk_length) + across.exposed,
          .longest = segment,
          .scratch = (ranks - 1) * segment + across.scratch,
          .far_steps = across.steps,
          .far_moved = across.moved};
}

// The opposite of all_gather: a part that all_gather forwards is reduced here.
Effort reduce_scatter_effort(const CallFacts& facts, const Hosts& hosts) {
  const std::size_t longest = *std::max_element(facts.parts.begin(), facts.parts.end());
  const auto others = static_cast<std::size_t>(hosts.num_hosts() - 1);
  const auto ranks = static_cast<std::size_t>(hosts.largest());
  const std::size_t taken = num_handed_on(hosts);
  const std::size_t folded = (ranks - 1) * (1 + taken) + others;
  const std::size_t chunks = num_chunks(longest, facts.chunk_length);
  return {.steps = (ranks - 1) * (1 + taken) * chunks,
          .moved = (ranks - 1) * (1 + taken) * longest,
          .combined = folded * longest,
          .exposed = folded * longest_chunk(longest, facts.chunk_length),
          .longest = longest,
          .peers = others,
          .scratch = (taken + folded) * longest,
          .far_steps = std::max(others, taken) * chunks,
          .far_moved = std::max(others, taken) * longest};
}

Effort all_gather_effort(const CallFacts& facts, const Hosts& hosts) {
  const auto others = static_cast<std::size_t>(hosts.num_hosts() - 1);
  const std::size_t longest = *std::max_element(facts.parts.begin(), facts.parts.end());
  const auto ranks = static_cast<std::size_t>(hosts.largest());
  const std::size_t taken = num_handed_on(hosts);
  return {.steps = (ranks - 1) * (1 + taken),
          .moved = (ranks - 1) * (1 + taken) * longest,
          .far_steps = std::max(others, taken),
          .far_moved = std::max(others, taken) * longest};
}

}  // namespace

bool has_hierarchy(const CallFacts& facts) {
  const int num_hosts = Hosts(facts).num_hosts();
  return num_hosts > 1 && num_hosts < facts.world;
}

Schedule hierarchical_schedule(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Hosts hosts(facts);
  switch (facts.operation) {
    case Operation::kAllReduce:
      all_reduce(builder, facts, hosts);
      break;
    case Operation::kBroadcast:
      broadcast(builder, facts, hosts);
      break;
    case Operation::kAllGather:
      all_gather(builder, facts, hosts);
      break;
    case Operation::kReduceScatter:
      reduce_scatter(builder, facts, hosts);
      break;
    default:
      COHORT_CHECK_EQ(facts.operation, Operation::kBarrier);
      barrier(builder, facts, hosts);
  }
  return std::move(builder).finish();
}

Effort hierarchical_effort(const CallFacts& facts) {
  const Hosts hosts(facts);
  const auto near_rounds = static_cast<std::size_t>(num_doublings(hosts.largest()));
  const auto far_rounds = static_cast<std::size_t>(num_doublings(hosts.num_hosts()));
  switch (facts.operation) {
    case Operation::kAllReduce:
      return all_reduce_effort(facts, hosts);
    case Operation::kAllGather:
      return all_gather_effort(facts, hosts);
    case Operation::kReduceScatter:
      return reduce_scatter_effort(facts, hosts);
    case Operation::kBroadcast:
      return {.steps = near_rounds,
              .moved = near_rounds * facts.count,
              .far_steps = far_rounds,
              .far_moved = far_rounds * facts.count};
    default:
      return {.steps = 2 * static_cast<std::size_t>(hosts.largest() - 1), .far_steps = far_rounds};
  }
}

}  // namespace cohort::comm
