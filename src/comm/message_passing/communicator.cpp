#include "comm/message_passing/communicator.h"

#include "comm/exchange/exchange_mailbox.h"

#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace cohort::comm {
namespace {

constexpr std::uint32_t kFirstSplitGroup = MessagePassingCommunicator::kLinksGroup + 1;

}  // namespace

Result<std::unique_ptr<Communicator>> MessagePassingCommunicator::make_world(Exchange& exchange,
                                                                             TaskRunner& runner,
                                                                             Options options) {
  const GroupFacts facts{.name = std::move(options.name),
                         .rank = exchange.member(),
                         .world = exchange.num_members(),
                         .generation = options.generation,
                         .limit = options.limit};
  std::vector<int> members(static_cast<std::size_t>(facts.world));
  std::iota(members.begin(), members.end(), 0);
  const Parts parts{exchange,
                    runner,
                    std::make_shared<Numbering>(0),
                    std::move(options.message_passing),
                    std::move(options.kind),
                    std::move(options.foundation)};
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
      numbering_(parts.numbering),
      kind_(parts.kind),
      group_(parts.exchange, parts.runner, facts, std::move(membership), parts.options) {
  group_.runner().add(group_);
}

MessagePassingCommunicator::~MessagePassingCommunicator() {
  group_.runner().remove(group_);
  group_.leave();
}

Result<std::unique_ptr<Communicator>> MessagePassingCommunicator::do_split(const GroupFacts& facts,
                                                                           const std::vector<int>& members) {
  COHORT_ASSIGN_OR_RETURN(const std::uint32_t group, agree_on_group());
  if (members.empty()) return std::unique_ptr<Communicator>();
  Line::Membership membership{.group = group, .generation = facts.generation, .rank = facts.rank};
  MessagePassingOptions options = group_.options();
  options.plan.hosts.clear();
  for (const int rank : members) {
    membership.members.push_back(group_.membership().members[static_cast<std::size_t>(rank)]);
    const std::vector<int>& hosts = group_.options().plan.hosts;
    if (!hosts.empty()) options.plan.hosts.push_back(hosts[static_cast<std::size_t>(rank)]);
  }
  const Parts parts{group_.exchange(), group_.runner(), numbering_, std::move(options), kind_, foundation_};
  return std::unique_ptr<Communicator>(new MessagePassingCommunicator(parts, facts, std::move(membership)));
}

std::unique_ptr<Mailbox> MessagePassingCommunicator::open_mailbox() {
  return make_mailbox(group_.exchange(), group_.runner(), {.generation = generation()});
}

// Rank 0 gives out a number that no other member gives out. Two groups have the same number only if they come
// from the same split, and then no member is in both.
Result<std::uint32_t> MessagePassingCommunicator::agree_on_group() {
  std::int64_t group = 0;
  if (rank() == 0) {
    const auto num_members = static_cast<std::int64_t>(group_.exchange().num_members());
    group = kFirstSplitGroup + numbering_->fetch_add(1) * num_members + group_.exchange().member();
  }
  COHORT_RETURN_IF_ERROR(run(broadcast(std::span(&group, 1), 0)));
  if (group > std::numeric_limits<std::uint32_t>::max()) {
    return Error(ErrorCode::kExhausted, fmt::format("group '{}' was split too often", group_name()))
        .with_remedy("Keep groups and use them again.");
  }
  return static_cast<std::uint32_t>(group);
}

}  // namespace cohort::comm
