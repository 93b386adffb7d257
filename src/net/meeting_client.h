#pragma once

#include "net/job_key.h"
#include "net/meeting.h"
#include "net/socket.h"

#include <memory>
#include <vector>

namespace cohort::net {

/// A meeting at a MeetingServer. The connection stays, so that the next round takes one way there and back.
///
/// Threads, Failure: as every meeting. Between two rounds nothing happens.
class MeetingClient final : public Meeting {
 public:
  /// `addresses`: of the server; they are tried in turn.
  MeetingClient(const JobKey& key, int rank, int world, const std::vector<SocketAddress>& addresses);
  ~MeetingClient() override;

  Result<std::vector<std::string>> gather(const Round& round, const std::string& card) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort::net
