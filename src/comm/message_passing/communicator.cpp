#include "comm/message_passing/communicator.h"

#include "comm/exchange/exchange_mailbox.h"

#include <array>
#include <numeric>

namespace cohort::comm {
Result<std::unique_ptr<Communicator>> MessagePassingCommunicator::make_world(Exchange& exchange,
                                                                             TaskRunner& runner,
                                                                             Options options) {
  const GroupFacts facts{.name = std::move(options.name),
                         .rank = exchange.member(),
                         .world = exchange.num_members(),
                         .generation = options.generation,
                         .limit = options.limit,
                         .end = std::move(options.end)};
  std::vector<int> members(static_cast<std::size_t>(facts.world));
  std::iota(members.begin(), members.end(), 0);
  if (options.numbers == nullptr) {
    options.numbers = std::make_shared<GroupNumbers>(kFirstSplitGroup, facts.rank, facts.world);
  }
  const Parts parts{exchange,
                    runner,
                    std::move(options.numbers),
                    std::move(options.host_groups),
                    std::move(options.message_passing),
                    std::move(options.kind),
                    std::move(options.foundation),
                    std::move(options.engine)};
  return std::unique_ptr<Communicator>(new MessagePassingCommunicator(parts, facts,
                                                                      {.group = options.group,
                                                                       .generation = facts.generation,
                                                                       .members = std::move(members),
                                                                       .rank = facts.rank}));
}

MessagePassingCommunicator::MessagePassingCommunicator(const Parts& parts, const GroupFacts& facts,
                                                       Line::Membership membership)
    : Communicator(facts),
      foundation_(parts.foundation),
      engine_(parts.engine),
      numbers_(parts.numbers),
      host_groups_(parts.host_groups),
      kind_(parts.kind),
      group_(parts.exchange, parts.runner, facts, std::move(membership), parts.options) {
  group_.runner().add(group_);
}

MessagePassingCommunicator::~MessagePassingCommunicator() {
  group_.runner().remove(group_);
  group_.leave();
}

std::vector<int> MessagePassingCommunicator::hosts() const {
  return host_groups_ == nullptr ? std::vector<int>() : group_.options().plan.hosts;
}

// `members`: of the job. A rank that is alone needs no shared memory.
bool MessagePassingCommunicator::share_a_host(const std::vector<int>& members) const {
  return host_groups_ != nullptr && members.size() > 1 && host_groups_->cover(members);
}

Result<std::unique_ptr<Communicator>> MessagePassingCommunicator::do_split(const GroupFacts& facts,
                                                                           const std::vector<int>& members) {
  std::vector<int> of_job;
  for (const int rank : members) {
    of_job.push_back(group_.membership().members[static_cast<std::size_t>(rank)]);
  }
  std::unique_ptr<PendingHostGroup> pending;
  if (share_a_host(of_job)) {
    auto begun = host_groups_->begin(facts);
    if (!begun) {
      abort(begun.error());  // the other ranks would wait for this one
      return begun.error();
    }
    pending = std::move(*begun);
  }
  const std::array<std::int64_t, 2> mine = {
      pending == nullptr ? 0 : static_cast<std::int64_t>(pending->offset()), numbers_->propose()};
  std::vector<std::int64_t> all(static_cast<std::size_t>(size()) * mine.size());
  COHORT_RETURN_IF_ERROR(run(all_gather(std::span<const std::int64_t>(mine), std::span(all))));
  if (members.empty()) return std::unique_ptr<Communicator>();
  COHORT_ASSIGN_OR_RETURN(
      const std::uint32_t number,
      GroupNumbers::checked(all[static_cast<std::size_t>(members.front()) * mine.size() + 1], group_name()));
  if (pending != nullptr) {
    PendingHostGroup::Agreed agreed{.number = number, .members = std::move(of_job)};
    for (const int rank : members) {
      agreed.offsets.push_back(static_cast<std::uint64_t>(all[static_cast<std::size_t>(rank) * mine.size()]));
    }
    return pending->finish(agreed);
  }
  return part_of(facts, number, members);
}

// The group of these ranks, by messages.
std::unique_ptr<Communicator> MessagePassingCommunicator::part_of(const GroupFacts& facts,
                                                                  std::uint32_t number,
                                                                  const std::vector<int>& ranks) {
  Line::Membership membership{.group = number, .generation = facts.generation, .rank = facts.rank};
  MessagePassingOptions options = group_.options();
  options.plan.hosts.clear();
  for (const int rank : ranks) {
    membership.members.push_back(group_.membership().members[static_cast<std::size_t>(rank)]);
    const std::vector<int>& hosts = group_.options().plan.hosts;
    if (!hosts.empty()) options.plan.hosts.push_back(hosts[static_cast<std::size_t>(rank)]);
  }
  const Parts parts{group_.exchange(),  group_.runner(), numbers_,    host_groups_,
                    std::move(options), kind_,           foundation_, engine_};
  return std::unique_ptr<Communicator>(new MessagePassingCommunicator(parts, facts, std::move(membership)));
}

std::unique_ptr<Mailbox> MessagePassingCommunicator::open_mailbox() {
  return make_mailbox(group_.exchange(), group_.runner(), {.generation = generation()});
}

}  // namespace cohort::comm
