#include "mpi/member.h"

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

/// Runs the flight of an Agreement or a Gathering.
Status run(Library& library, const std::shared_ptr<void>& kept, Flight& flight, TimePoint deadline) {
  COHORT_RETURN_IF_ERROR(
      library.status(flight.begin(), "cannot begin the agreement on a new group (MPI_Iallreduce)"));
  while (true) {
    bool is_done = false;
    COHORT_RETURN_IF_ERROR(
        library.status(flight.test(is_done), "cannot complete the agreement on a new group (MPI_Test)"));
    if (is_done) return {};
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
  COHORT_RETURN_IF_ERROR(run(library, agreement, agreement->flight, deadline));
  return agreement->number;
}

Result<std::vector<std::int64_t>> gather(Library& library, const Flight::Group& group, std::int64_t number,
                                         TimePoint deadline) {
  const auto gathering = std::make_shared<Gathering>(group, number);
  COHORT_RETURN_IF_ERROR(run(library, gathering, gathering->flight, deadline));
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
