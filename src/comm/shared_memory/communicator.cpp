#include "comm/shared_memory/communicator.h"

#include "comm/exchange/exchange_mailbox.h"
#include "comm/progress/progress.h"
#include "comm/shared_memory/host_engine.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <sched.h>
#include <thread>

namespace cohort {
namespace {

using comm::Collective;

// How often a waiting call checks before it yields its core: more often where every rank has a core of its
// own.
constexpr int kSpinsAlone = 2'000;
constexpr int kSpinsCrowded = 100;
constexpr int kYields = 200;

constexpr std::uint32_t kWorldGroup = 1;

int usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return CPU_COUNT(&cores);
}

bool is_message(Operation operation) {
  return operation == Operation::kSend || operation == Operation::kReceive;
}

}  // namespace

/// This rank's memory of a group that is being made.
class SharedMemoryCommunicator::Pending final : public comm::PendingHostGroup {
 public:
  Pending(comm::HostParts host, GroupFacts facts, comm::OwnBlocks own, std::vector<int> near)
      : host_(std::move(host)), facts_(std::move(facts)), own_(std::move(own)), near_(std::move(near)) {}
  // Other members may already know the offsets of these blocks and read them.
  ~Pending() override {
    if (is_finished_) return;
    host_.neighbours->arena().retire(std::move(own_.block));
    host_.neighbours->arena().retire(std::move(own_.stages));
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  std::uint64_t offset() const override { return own_.block.offset(); }

  Result<std::unique_ptr<Communicator>> finish(const Agreed& agreed) override {
    std::vector<int> neighbours;
    for (const int member : agreed.members) neighbours.push_back(neighbour_of(member));
    COHORT_ASSIGN_OR_RETURN(comm::GroupView view,
                            comm::GroupView::of(*host_.neighbours, neighbours, agreed.offsets, facts_));
    is_finished_ = true;
    return std::unique_ptr<Communicator>(
        new SharedMemoryCommunicator(host_, {.facts = facts_,
                                             .number = agreed.number,
                                             .members = std::move(neighbours),
                                             .own = std::move(own_),
                                             .view = std::move(view)}));
  }

 private:
  int neighbour_of(int member) const {
    if (near_.empty()) return member;
    return static_cast<int>(std::find(near_.begin(), near_.end(), member) - near_.begin());
  }

  const comm::HostParts host_;
  const GroupFacts facts_;
  comm::OwnBlocks own_;
  const std::vector<int> near_;
  bool is_finished_ = false;
};

Result<std::unique_ptr<comm::PendingHostGroup>> comm::begin_shared_memory_group(const HostParts& host,
                                                                                const GroupFacts& facts,
                                                                                std::vector<int> near) {
  COHORT_ASSIGN_OR_RETURN(OwnBlocks own, OwnBlocks::allocate(host.neighbours->arena(), facts.world));
  return std::unique_ptr<PendingHostGroup>(
      new SharedMemoryCommunicator::Pending(host, facts, std::move(own), std::move(near)));
}

bool comm::SharedMemoryGroups::cover(std::span<const int> members) const {
  return std::all_of(members.begin(), members.end(), [this](int member) {
    return std::find(near_.begin(), near_.end(), member) != near_.end();
  });
}

Result<std::unique_ptr<comm::PendingHostGroup>> comm::SharedMemoryGroups::begin(const GroupFacts& facts) {
  return begin_shared_memory_group(host_, facts, near_);
}

Result<std::unique_ptr<Communicator>> SharedMemoryCommunicator::meet(Arena& arena,
                                                                     const SharedMemoryOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const std::shared_ptr<comm::Neighbours> neighbours,
                          comm::Neighbours::meet(arena, options));
  return of(neighbours, options.facts);
}

Result<std::unique_ptr<Communicator>> SharedMemoryCommunicator::of(
    const std::shared_ptr<comm::Neighbours>& neighbours, const GroupFacts& facts) {
  const comm::HostParts host{neighbours, std::make_shared<comm::OwnHostMessages>(neighbours),
                             std::make_shared<comm::GroupNumbers>(kWorldGroup + 1, facts.rank, facts.world)};
  COHORT_ASSIGN_OR_RETURN(const auto pending, comm::begin_shared_memory_group(host, facts, {}));
  comm::PendingHostGroup::Agreed agreed{.number = kWorldGroup};
  COHORT_ASSIGN_OR_RETURN(agreed.offsets, neighbours->exchange_first_blocks(pending->offset()));
  agreed.members.resize(static_cast<std::size_t>(facts.world));
  std::iota(agreed.members.begin(), agreed.members.end(), 0);
  return pending->finish(agreed);
}

SharedMemoryCommunicator::SharedMemoryCommunicator(comm::HostParts host, Formed formed)
    : Communicator(formed.facts),
      id_(formed.number),
      host_(std::move(host)),
      neighbours_(*host_.neighbours),
      members_(std::move(formed.members)),
      own_(std::move(formed.own)),
      spins_(neighbours_.size() <= usable_cores() ? kSpinsAlone : kSpinsCrowded),
      calls_(facts(), std::move(formed.view), failure_,
             {.tell_others = [this](const Error& error) { neighbours_.tell(id_, error); },
              .on_failure = [this](const Error& error) { fail_messages(error); }}) {
  neighbours_.join(
      id_, members_, failure_,
      {.waiting = [this] { return calls_.waiting_call(); }, .is_busy = [this] { return calls_.is_busy(); }});
}

SharedMemoryCommunicator::~SharedMemoryCommunicator() {
  if (queued_.load()) neighbours_.progress().remove(calls_);
  if (messages_) {
    host_.messages->progress().remove(*messages_);
    messages_->leave();
    messages_.reset();
  }
  // A member that has not heard of the failure yet must not take our leaving for its cause.
  neighbours_.tell(id_, failure_.failure().value_or(Error(ErrorCode::kPeerLost, "")));
  neighbours_.leave(id_);
  // Other members may still read the last posting. They read the stages only in a call that failed here.
  neighbours_.arena().retire(std::move(own_.block));
  if (failure_.has_failed() || calls_.is_busy()) neighbours_.arena().retire(std::move(own_.stages));
}

CommunicatorTraits SharedMemoryCommunicator::traits() const {
  return {.kind = "shared memory", .abortable = true, .zero_copy = true};
}

Result<std::byte*> SharedMemoryCommunicator::see(int owner, std::span<std::byte> mine) {
  constexpr std::int64_t kElsewhere = -1;
  std::array<std::int64_t, 2> span = {kElsewhere, 0};
  if (rank() == owner) {
    const auto offset = neighbours_.arena().offset_of(mine.data(), mine.size());
    if (offset) span = {static_cast<std::int64_t>(*offset), static_cast<std::int64_t>(mine.size())};
  }
  COHORT_RETURN_IF_ERROR(run(broadcast(std::span<std::int64_t>(span), owner)));
  const int neighbour = members_[static_cast<std::size_t>(owner)];
  const auto offset = static_cast<std::uint64_t>(span[0]);
  const std::size_t size_bytes = neighbours_.memory_bytes_of(neighbour);
  if (span[0] == kElsewhere) return nullptr;
  if (offset > size_bytes || static_cast<std::uint64_t>(span[1]) > size_bytes - offset) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format(
            "corrupt address from rank {}: offset {} and length {}, expected within its arena of {} bytes",
            global_rank(owner), offset, span[1], size_bytes));
  }
  return neighbours_.memory_of(neighbour) + offset;
}

std::shared_ptr<comm::Engine> SharedMemoryCommunicator::engine() const {
  return std::make_shared<comm::HostEngine>(host_.neighbours, host_.messages);
}

std::unique_ptr<Mailbox> SharedMemoryCommunicator::open_mailbox() {
  return comm::make_mailbox(host_.messages->exchange(), host_.messages->progress(),
                            {.generation = generation()});
}

void SharedMemoryCommunicator::abort(const Error& cause) {
  Error error = Error(ErrorCode::kAborted,
                      fmt::format("rank {} aborted the group: {}", facts().own_global_rank(), cause.text()));
  if (cause.rank()) error = error.with_rank(*cause.rank());
  if (!failure_.fail(error)) return;
  neighbours_.tell(id_, error);
  neighbours_.doorbell().ring();
}

Status SharedMemoryCommunicator::do_run(const Call& call) {
  if (is_message(call.operation)) return do_start(call.within(limit_of(call))).wait();
  std::optional<comm::CallQueue::Turn> turn = calls_.try_turn();
  if (!turn) return do_start(call.within(limit_of(call))).wait();
  if (failure_.is_over()) return calls_.broken_off(call, nullptr, turn->sequence());
  Collective collective(turn->view(), call, turn->sequence());
  for (int i = 0; i < spins_; ++i) {
    if (collective.advance()) return calls_.outcome(call, collective, turn->sequence());
    if (failure_.is_over()) break;
    comm::spin_once();
  }
  return wait_long(collective, call, turn->sequence());
}

Status SharedMemoryCommunicator::wait_long(Collective& collective, const Call& call, std::uint64_t sequence) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), limit_of(call));
  const comm::CallQueue::Waiting waiting(calls_, call, sequence);
  comm::ArenaDoorbell& doorbell = neighbours_.doorbell();
  while (true) {
    for (int i = 0; i < kYields; ++i) {
      // Read before the last check: the work that the others did before they failed may be all that this call
      // needs.
      const bool over = failure_.is_over();
      if (collective.advance()) return calls_.outcome(call, collective, sequence);
      if (over) {
        collective.give_up();
        return calls_.broken_off(call, &collective, sequence);
      }
      std::this_thread::yield();
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      collective.give_up();
      return calls_.fail(calls_.timed_out(call, &collective, sequence));
    }
    const std::uint32_t ticket = doorbell.arm();
    if (!collective.advance() && !failure_.is_over()) doorbell.sleep(ticket, deadline);
    doorbell.disarm();
  }
}

comm::Work SharedMemoryCommunicator::do_start(const Call& call) {
  if (is_message(call.operation) ? failure_.has_failed() : failure_.is_over()) {
    return comm::Work::finished(calls_.broken_off(call, nullptr, 0));
  }
  comm::Progress& progress = neighbours_.progress();
  if (!queued_.exchange(true)) progress.add(calls_);
  if (is_message(call.operation)) return messages().start(call);
  return calls_.enqueue(call, [&progress] { progress.wake(); });
}

comm::Group& SharedMemoryCommunicator::messages() {
  // Lock order: the progress thread takes messages_mutex_ while it holds its own lock, so never the other way
  // round.
  comm::Exchange& exchange = host_.messages->exchange();
  comm::Group* made = nullptr;
  {
    const std::lock_guard lock(messages_mutex_);
    if (messages_) return *messages_;
    comm::Line::Membership membership{.group = id_, .generation = generation(), .rank = rank()};
    for (const int neighbour : members_) membership.members.push_back(host_.messages->member_of(neighbour));
    comm::MessagePassingOptions options;
    options.on_failure = [this](const Error& error) { (void)calls_.fail(error); };
    messages_ =
        std::make_unique<comm::Group>(exchange, host_.messages->progress(), facts(), membership, options);
    made = messages_.get();
  }
  host_.messages->progress().add(*made);
  // A failure that came before this group of messages existed did not reach it.
  if (const std::optional<Error> error = failure_.failure()) made->abort(*error);
  return *made;
}

void SharedMemoryCommunicator::fail_messages(const Error& error) {
  // The messages hear of the end of a generation from the exchange, and whether the others are told.
  if (error.code() == ErrorCode::kStale) return;
  const std::lock_guard lock(messages_mutex_);
  if (messages_) messages_->abort(error);
}

Result<std::unique_ptr<Communicator>> SharedMemoryCommunicator::do_split(const GroupFacts& facts,
                                                                         const std::vector<int>& members) {
  std::unique_ptr<comm::PendingHostGroup> pending;
  if (!members.empty()) {
    auto begun = comm::begin_shared_memory_group(host_, facts, {});
    if (!begun) {
      abort(begun.error());  // the other ranks would wait for this one
      return begun.error();
    }
    pending = std::move(*begun);
  }
  const std::array<std::int64_t, 2> mine = {
      pending == nullptr ? 0 : static_cast<std::int64_t>(pending->offset()), host_.numbers->propose()};
  std::vector<std::int64_t> all(static_cast<std::size_t>(size()) * mine.size());
  COHORT_RETURN_IF_ERROR(run(all_gather(std::span<const std::int64_t>(mine), std::span(all))));
  if (members.empty()) return std::unique_ptr<Communicator>();
  comm::PendingHostGroup::Agreed agreed;
  for (const int member : members) {
    agreed.members.push_back(members_[static_cast<std::size_t>(member)]);
    agreed.offsets.push_back(static_cast<std::uint64_t>(all[static_cast<std::size_t>(member) * mine.size()]));
  }
  COHORT_ASSIGN_OR_RETURN(
      agreed.number, comm::GroupNumbers::checked(
                         all[static_cast<std::size_t>(members.front()) * mine.size() + 1], group_name()));
  return pending->finish(agreed);
}

}  // namespace cohort
