#include "mpi/member.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace cohort::mpi {
namespace {

// MPI tells which processes are lost; the exchange must not judge by silence.
constexpr std::chrono::hours kNever(24 * 365);
constexpr std::int64_t kFirstSplitGroup = 2;

// Kept alive after a timeout, because MPI still uses its memory.
struct Agreement {
  Agreement(const Flight::Group& group, std::int64_t mine)
      : number(group.rank == 0 ? mine : 0),
        call(all_reduce(std::span(&number, 1), ReduceOp::kMax)),
        flight(group, call) {}
  std::int64_t number;
  const Call call;
  Flight flight;
};

// Kept alive after a timeout, as an Agreement.
struct Gathering {
  Gathering(const Flight::Group& group, std::int64_t mine)
      : number(mine),
        all(static_cast<std::size_t>(group.world)),
        call(all_gather(std::span<const std::int64_t>(&number, 1), std::span(all))),
        flight(group, call) {}
  const std::int64_t number;
  std::vector<std::int64_t> all;
  const Call call;
  Flight flight;
};

/// The loss of a rank of a communicator, as its rank there. A rank that waits for the lost one would wait
/// until the deadline, because the communicator cannot be revoked before all ranks have made it.
class LossWatch {
 public:
  LossWatch(Library& library, const Flight::Group& group)
      : library_(library), world_ranks_(static_cast<std::size_t>(group.world)) {
    library.shim().world_ranks(group.comm, world_ranks_.data());
  }

  Status look() {
    const TimePoint now = std::chrono::steady_clock::now();
    if (!library_.can_recover() || now < next_look_) return {};
    next_look_ = now + kBetweenLooks;
    library_.look_for_losses();
    for (const int lost : library_.lost_ranks()) {
      const auto found = std::find(world_ranks_.begin(), world_ranks_.end(), lost);
      if (found == world_ranks_.end()) continue;
      const auto rank = static_cast<int>(found - world_ranks_.begin());
      return Error(ErrorCode::kPeerLost, fmt::format("rank {} has ended before the group was opened", rank))
          .with_rank(rank)
          .with_remedy("Call survivors() and form() again.");
    }
    return {};
  }

 private:
  static constexpr std::chrono::milliseconds kBetweenLooks{1};

  Library& library_;
  std::vector<int> world_ranks_;
  TimePoint next_look_{};
};

/// Runs the flight of an Agreement or a Gathering.
Status run(Library& library, const std::shared_ptr<void>& kept, Flight& flight, LossWatch watch,
           TimePoint deadline) {
  COHORT_RETURN_IF_ERROR(
      library.status(flight.begin(), "cannot begin the agreement on a new group (MPI_Iallreduce)"));
  while (true) {
    bool is_done = false;
    COHORT_RETURN_IF_ERROR(
        library.status(flight.test(is_done), "cannot complete the agreement on a new group (MPI_Test)"));
    if (is_done) return {};
    if (Status fine = watch.look(); !fine) {
      library.keep(kept);
      return fine;
    }
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::yield();
  }
  library.keep(kept);
  return Error(ErrorCode::kTimedOut, "not all ranks have called to open the group before the deadline")
      .with_remedy("Make the call on all ranks, or give the group a longer limit.");
}

}  // namespace

Result<std::int64_t> agree(Library& library, const Flight::Group& group, std::int64_t number,
                           TimePoint deadline) {
  const auto agreement = std::make_shared<Agreement>(group, number);
  COHORT_RETURN_IF_ERROR(run(library, agreement, agreement->flight, LossWatch(library, group), deadline));
  return agreement->number;
}

Result<std::vector<std::int64_t>> gather(Library& library, const Flight::Group& group, std::int64_t number,
                                         TimePoint deadline) {
  const auto gathering = std::make_shared<Gathering>(group, number);
  COHORT_RETURN_IF_ERROR(run(library, gathering, gathering->flight, LossWatch(library, group), deadline));
  return gathering->all;
}

Result<std::shared_ptr<Member>> Member::open(std::shared_ptr<Library> library, CohortMpiHandle comm,
                                             TimePoint deadline) {
  const CohortMpiShim& shim = library->shim();
  int rank = 0;
  int size = 1;
  shim.rank(comm, &rank);
  shim.size(comm, &size);
  std::vector<int> world_ranks(static_cast<std::size_t>(size));
  COHORT_RETURN_IF_ERROR(
      library->status(shim.world_ranks(comm, world_ranks.data()),
                      "cannot read the ranks of a communicator (MPI_Group_translate_ranks)"));
  COHORT_ASSIGN_OR_RETURN(const std::int64_t tag,
                          agree(*library, {*library, comm, rank, size}, library->fresh_tag(), deadline));
  auto transport = std::make_unique<MpiTransport>(MpiTransport::Facts{
      .library = library, .world_ranks = world_ranks, .member = rank, .tag = static_cast<int>(tag)});
  return std::shared_ptr<Member>(
      new Member(std::move(library), std::move(transport), std::move(world_ranks)));
}

Member::Member(std::shared_ptr<Library> library, std::unique_ptr<MpiTransport> transport,
               std::vector<int> world_ranks)
    : library_(std::move(library)),
      world_ranks_(std::move(world_ranks)),
      transport_(*transport),
      exchange_(std::move(transport), clock_, {.liveness = kNever}),
      progress_(doorbell_) {
  exchange_.open(doorbell_);
  progress_.add(exchange_);
}

Member::~Member() {
  progress_.remove(exchange_);
  exchange_.close();
}

std::int64_t Member::fresh_group() {
  return kFirstSplitGroup + num_groups_.fetch_add(1) * exchange_.num_members() + exchange_.member();
}

}  // namespace cohort::mpi
