#pragma once

#include "comm/group/engine.h"
#include "mpi/member.h"
#include "mpi/shared_comm.h"

#include <memory>
#include <vector>

namespace cohort::mpi {

/// The engine of a generation over MPI. The way to the next one is SharedComm::shrink().
///
/// Threads: as every Engine.
/// Lifetime: shares the member and the communicator with the groups.
class MpiEngine final : public comm::Engine {
 public:
  MpiEngine(std::shared_ptr<Member> member, std::shared_ptr<SharedComm> comm)
      : member_(std::move(member)), comm_(std::move(comm)) {}

  void end(const Error& why) override;
  /// Revokes the group, as end() does.
  Status close(const Error& why, TimePoint deadline) override;
  /// The number of each rank, by rank. Every rank calls this.
  Result<std::vector<std::int64_t>> gather(std::int64_t mine, TimePoint deadline) const;
  std::vector<comm::Loss> losses() const override;

 private:
  const std::shared_ptr<Member> member_;
  const std::shared_ptr<SharedComm> comm_;
};

}  // namespace cohort::mpi
