#include "world/site.h"

#include "base/checksum.h"
#include "base/error_codes.h"
#include "launch/launching_mpi.h"
#include "mpi/communicator.h"
#include "mpi/library.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <thread>
#include <unistd.h>

namespace cohort::world {
namespace {

using mpi::MpiCommunicator;

mpi::LibraryOptions library_options(const launch::LaunchingMpi& launching) {
  const bool is_mpich = launching.kind == launch::LaunchingMpi::Kind::kMpich;
  const auto implementation = is_mpich ? mpi::Implementation::kMpich : mpi::Implementation::kOpenMpi;
  return {.implementation = implementation,
          .shim_directory = mpi::own_shim_directory(implementation),
          .library = launching.library};
}

// With another libmpi than the launcher's, every process is rank 0 of 1.
Status compare(const mpi::Library& library, const LaunchFacts& facts) {
  if (library.rank() == facts.rank && library.size() == facts.world) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("{} started this process as rank {} of {}, but {} reports rank {} of {}",
                           name(facts.launcher), facts.rank, facts.world, library.text(), library.rank(),
                           library.size()))
      .with_remedy(
          "Set COHORT_MPI_LIBRARY to the libmpi of that launcher; with srun, set --mpi to the process "
          "manager "
          "of your MPI.");
}

// A rank that was lost may have failed and be about to end with an exit code of its own, which says more than
// that of this rank. Time is the only means here: MPI_Abort ends every rank at once, and mpirun reports the
// code of the rank that ends first. So the lost rank gets this long.
constexpr std::chrono::seconds kLeaveLimit(2);

[[noreturn]] void end_job(const mpi::Library& library, const Error& error) {
  std::fputs(fmt::format("cohort: {}\n", error.text()).c_str(), stderr);
  std::fflush(stderr);
  if (error.code() == ErrorCode::kPeerLost) std::this_thread::sleep_for(kLeaveLimit);
  library.abort_job(exit_code_of(error.code()));
  std::_Exit(exit_code_of(error.code()));
}

// Ranks of one host have the same name of the host.
std::int64_t own_host() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  ContentHash hash;
  hash.add(std::as_bytes(std::span(name)));
  return static_cast<std::int64_t>(hash.value());
}

// Hosts are numbered in the order of their first ranks.
std::vector<int> numbered(const std::vector<std::int64_t>& hosts) {
  std::map<std::int64_t, int> numbers;
  std::vector<int> all;
  for (const std::int64_t host : hosts) {
    all.push_back(numbers.try_emplace(host, static_cast<int>(numbers.size())).first->second);
  }
  return all;
}

class MpiSite final : public Site {
 public:
  MpiSite(std::shared_ptr<mpi::Library> library, const HostsOptions& options)
      : library_(std::move(library)), limit_(options.limit), meeting_limit_(options.meeting_limit) {}

  Status can_form_again() const override {
    if (library_->can_recover()) return {};
    return Error(ErrorCode::kUnsupported,
                 fmt::format("{} cannot continue after the loss of a rank", library_->text()))
        .with_remedy("Start the job with Open MPI 5 and `mpirun --with-ft ulfm`, or start the job again.");
  }

  Result<std::unique_ptr<Communicator>> form(const Seat& seat) override {
    mpi::CommunicatorOptions wanted{.generation = seat.generation, .limit = limit_, .end = seat.end};
    if (!library_->can_recover()) {
      wanted.on_failure = [raw = library_.get()](const Error& error) { end_job(*raw, error); };
    }
    if (comm_ == nullptr) return first(wanted);
    COHORT_RETURN_IF_ERROR(shrink());
    COHORT_RETURN_IF_ERROR(compare(seat));
    // Formed or not, the next generation shrinks this communicator: all survivors have it, and none can know
    // how far the others came.
    comm_ = std::exchange(smaller_, nullptr);
    auto group = MpiCommunicator::adopt(library_, comm_, wanted);
    if (!group) {
      comm_->abandon();
      return group.error();
    }
    return opened(*std::move(group));
  }

  std::vector<int> hosts() const override { return hosts_; }

  Result<std::vector<int>> survivors(const Seat& seat, comm::Engine*) override {
    COHORT_RETURN_IF_ERROR(shrink());
    COHORT_ASSIGN_OR_RETURN(const std::vector<int> ids, smaller_->world_ranks());
    std::vector<int> ranks;
    for (int rank = 0; rank < seat.size(); ++rank) {
      const auto id = static_cast<int>(seat.members[static_cast<std::size_t>(rank)].id);
      if (std::count(ids.begin(), ids.end(), id) > 0) ranks.push_back(rank);
    }
    return ranks;
  }

  std::string explanation() const override { return "MPI carries every call and chooses its algorithms\n"; }

 private:
  Result<std::unique_ptr<Communicator>> first(const mpi::CommunicatorOptions& wanted) {
    COHORT_ASSIGN_OR_RETURN(auto group, MpiCommunicator::make_world(library_, wanted));
    comm_ = group->mpi_comm();
    return opened(std::move(group));
  }

  // All ranks have made the communicator, so a failure may revoke it.
  Result<std::unique_ptr<Communicator>> opened(std::unique_ptr<MpiCommunicator> group) {
    const auto hosts =
        group->mpi_engine()->gather(own_host(), deadline_after(std::chrono::steady_clock::now(), limit_));
    if (!hosts) {
      group->abort(hosts.error());
      return hosts.error();
    }
    hosts_ = numbered(*hosts);
    return std::unique_ptr<Communicator>(std::move(group));
  }

  // MPI agrees on the survivors and makes their communicator in one call.
  Status shrink() {
    if (smaller_) return {};
    COHORT_ASSIGN_OR_RETURN(smaller_,
                            comm_->shrink(deadline_after(std::chrono::steady_clock::now(), meeting_limit_)));
    return {};
  }

  Status compare(const Seat& seat) const {
    COHORT_ASSIGN_OR_RETURN(const std::vector<int> ids, smaller_->world_ranks());
    bool is_same = ids.size() == seat.members.size();
    for (std::size_t rank = 0; is_same && rank < ids.size(); ++rank) {
      is_same = seat.members[rank].id == static_cast<std::uint64_t>(ids[rank]);
    }
    if (is_same) return {};
    return Error(ErrorCode::kUsage, fmt::format("form() got {} members, but MPI has agreed on members {}",
                                                seat.members.size(), fmt::join(ids, ", ")))
        .with_remedy("Pass the list that survivors() returned, in its order.");
  }

  const std::shared_ptr<mpi::Library> library_;
  const std::chrono::nanoseconds limit_;
  const std::chrono::nanoseconds meeting_limit_;
  std::shared_ptr<mpi::SharedComm> comm_;     // of the last generation, formed or not
  std::shared_ptr<mpi::SharedComm> smaller_;  // of its survivors; null: not agreed on yet
  std::vector<int> hosts_;
};

}  // namespace

Result<std::unique_ptr<Site>> mpi_site(const LaunchFacts& facts, const HostsOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const launch::LaunchingMpi launching, launch::own_launching_mpi(facts.launcher));
  COHORT_ASSIGN_OR_RETURN(auto library, mpi::own_library(library_options(launching)));
  COHORT_RETURN_IF_ERROR(compare(*library, facts));
  return std::unique_ptr<Site>(std::make_unique<MpiSite>(std::move(library), options));
}

}  // namespace cohort::world
