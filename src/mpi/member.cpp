#include "mpi/member.h"

#include "mpi/agree.h"

namespace cohort::mpi {
namespace {

// Whether processes live is MPI's affair: the exchange never finds out by itself.
constexpr std::chrono::hours kNever(24 * 365);
constexpr std::int64_t kFirstSplitGroup = 2;

}  // namespace

Result<std::shared_ptr<Member>> Member::open(std::shared_ptr<Library> library, CohortMpiHandle comm,
                                             TimePoint deadline) {
  const CohortMpiShim& shim = library->shim();
  int rank = 0;
  int size = 1;
  shim.rank(comm, &rank);
  shim.size(comm, &size);
  std::vector<int> world_ranks(static_cast<std::size_t>(size));
  COHORT_RETURN_IF_ERROR(
      library->status(shim.world_ranks(comm, world_ranks.data()), "MPI does not tell who is in a group"));
  COHORT_ASSIGN_OR_RETURN(const std::int64_t tag,
                          agree(*library, {*library, comm, rank, size}, library->fresh_tag(), deadline));
  auto transport = std::make_unique<MpiTransport>(MpiTransport::Place{
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
