#pragma once

#include "comm/group/engine.h"
#include "mpi/member.h"

#include <memory>
#include <vector>

namespace cohort::mpi {

/// The engine of a generation over MPI, and the way to the next one.
///
/// Threads: as every Engine; shrink() once.
/// Lifetime: shares the member with the groups. `comm` is never freed after end(): it is revoked.
class MpiEngine final : public comm::Engine {
 public:
  MpiEngine(std::shared_ptr<Member> member, CohortMpiHandle comm) : member_(std::move(member)), comm_(comm) {}

  void end(const Error& why) override;
  /// Revokes the group, as end() does.
  Status close(const Error& why, TimePoint deadline) override;
  /// The number of each rank, by rank. Every rank calls this.
  Result<std::vector<std::int64_t>> gather(std::int64_t mine, TimePoint deadline) const;
  std::vector<comm::Loss> losses() const override;

  /// A communicator of the surviving ranks and nobody else, on which MPI has made them agree
  /// (MPIX_Comm_shrink). Every survivor calls this, after end().
  Result<CohortMpiHandle> shrink() const;
  /// The ranks of a communicator, as numbered in MPI_COMM_WORLD.
  Result<std::vector<int>> world_ranks(CohortMpiHandle comm) const;

 private:
  const std::shared_ptr<Member> member_;
  const CohortMpiHandle comm_;
};

}  // namespace cohort::mpi
