#include "comm/shared_memory/communicator.h"

#include "comm/exchange/exchange_mailbox.h"
#include "comm/progress/progress.h"

#include <fmt/format.h>
#include <limits>
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

constexpr int kMaxWorld = 1024;  // every staging buffer is divided among all ranks

constexpr std::uint32_t kWorldGroup = 1;

int usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return CPU_COUNT(&cores);
}

/// Other members may already know the offsets of these blocks and read them.
Error keep_for_others(Arena& arena, comm::OwnBlocks own, Error error) {
  arena.retire(std::move(own.block));
  arena.retire(std::move(own.stages));
  return error;
}

bool is_message(Operation operation) {
  return operation == Operation::kSend || operation == Operation::kReceive;
}

}  // namespace

Result<std::unique_ptr<Communicator>> SharedMemoryCommunicator::meet(Arena& arena,
                                                                     const SharedMemoryOptions& options) {
  const GroupFacts& facts = options.facts;
  if (facts.world > kMaxWorld) {
    return Error(ErrorCode::kUsage,
                 fmt::format("{} ranks on one host, at most {} are supported", facts.world, kMaxWorld))
        .with_remedy("Start fewer ranks on this host.");
  }
  COHORT_ASSIGN_OR_RETURN(std::shared_ptr<comm::Neighbours> neighbours,
                          comm::Neighbours::meet(arena, options));
  COHORT_ASSIGN_OR_RETURN(comm::OwnBlocks own, comm::OwnBlocks::allocate(arena, facts.world));
  const Result<std::vector<std::uint64_t>> offsets = neighbours->exchange_first_blocks(own.block.offset());
  if (!offsets) return keep_for_others(arena, std::move(own), offsets.error());
  std::vector<int> members(static_cast<std::size_t>(facts.world));
  std::iota(members.begin(), members.end(), 0);
  COHORT_ASSIGN_OR_RETURN(comm::GroupView view,
                          comm::GroupView::of(*neighbours, members, *offsets, facts.rank));
  return std::unique_ptr<Communicator>(
      new SharedMemoryCommunicator(facts, kWorldGroup,
                                   {neighbours, std::make_shared<comm::HostMessages>(neighbours),
                                    std::make_shared<std::atomic<std::int64_t>>(0)},
                                   std::move(members), std::move(own), std::move(view)));
}

SharedMemoryCommunicator::SharedMemoryCommunicator(const GroupFacts& facts, std::uint32_t id, Host host,
                                                   std::vector<int> members, comm::OwnBlocks own,
                                                   comm::GroupView view)
    : Communicator(facts),
      id_(id),
      host_(std::move(host)),
      neighbours_(*host_.neighbours),
      members_(std::move(members)),
      own_(std::move(own)),
      spins_(neighbours_.size() <= usable_cores() ? kSpinsAlone : kSpinsCrowded),
      calls_(facts, std::move(view), failure_,
             {.tell_others = [this](const Error& error) { neighbours_.tell(id_, error); },
              .on_failure = [this](const Error& error) { fail_messages(error); }}) {
  neighbours_.join(id_, members_, failure_, [this] { return calls_.waiting_call(); });
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
            owner, offset, span[1], size_bytes));
  }
  return neighbours_.memory_of(neighbour) + offset;
}

std::unique_ptr<Mailbox> SharedMemoryCommunicator::open_mailbox() {
  return comm::make_mailbox(host_.messages->exchange(), host_.messages->progress(),
                            {.generation = generation()});
}

void SharedMemoryCommunicator::abort(const Error& cause) {
  const Error error =
      Error(ErrorCode::kAborted, fmt::format("rank {} aborted the group: {}", rank(), cause.text()));
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
    if (collective.advance()) return outcome(collective, call, turn->sequence());
    if (failure_.is_over()) break;
    comm::spin_once();
  }
  return wait_long(collective, call, turn->sequence());
}

Status SharedMemoryCommunicator::outcome(const Collective& collective, const Call& call,
                                         std::uint64_t sequence) {
  if (!collective.fault()) return {};
  return calls_.fail(calls_.disagreed(call, collective, sequence));
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
      if (collective.advance()) return outcome(collective, call, sequence);
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
    const comm::Line::Membership membership{
        .group = id_, .generation = generation(), .members = members_, .rank = rank()};
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
  const std::lock_guard lock(messages_mutex_);
  if (messages_) messages_->abort(error);
}

Result<std::unique_ptr<Communicator>> SharedMemoryCommunicator::do_split(const GroupFacts& facts,
                                                                         const std::vector<int>& members) {
  comm::OwnBlocks own;
  if (!members.empty()) {
    Result<comm::OwnBlocks> allocated = comm::OwnBlocks::allocate(neighbours_.arena(), facts.world);
    if (!allocated) {
      abort(allocated.error());  // the other ranks would wait for this one
      return allocated.error();
    }
    own = std::move(*allocated);
  }
  // Every rank proposes a number that no other member proposes; the first rank of a new group gives it its
  // number.
  const std::array<std::int64_t, 2> mine = {
      members.empty() ? 0 : static_cast<std::int64_t>(own.block.offset()),
      kWorldGroup + 1 + host_.num_proposed->fetch_add(1) * neighbours_.size() + neighbours_.rank()};
  std::vector<std::int64_t> all(static_cast<std::size_t>(size()) * mine.size());
  if (const Status told = run(all_gather(std::span<const std::int64_t>(mine), std::span(all))); !told) {
    return keep_for_others(neighbours_.arena(), std::move(own), told.error());
  }
  if (members.empty()) return std::unique_ptr<Communicator>();
  std::vector<int> neighbours;
  std::vector<std::uint64_t> offsets;
  for (const int member : members) {
    neighbours.push_back(members_[static_cast<std::size_t>(member)]);
    offsets.push_back(static_cast<std::uint64_t>(all[static_cast<std::size_t>(member) * mine.size()]));
  }
  const std::int64_t id = all[static_cast<std::size_t>(members.front()) * mine.size() + 1];
  if (id > std::numeric_limits<std::uint32_t>::max()) {
    return keep_for_others(
        neighbours_.arena(), std::move(own),
        Error(ErrorCode::kExhausted, fmt::format("group '{}' was split too often", group_name()))
            .with_remedy("Keep groups and use them again."));
  }
  COHORT_ASSIGN_OR_RETURN(comm::GroupView view,
                          comm::GroupView::of(neighbours_, neighbours, offsets, facts.rank));
  return std::unique_ptr<Communicator>(new SharedMemoryCommunicator(
      facts, static_cast<std::uint32_t>(id), host_, std::move(neighbours), std::move(own), std::move(view)));
}

}  // namespace cohort
