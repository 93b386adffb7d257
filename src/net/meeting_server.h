#pragma once

#include "net/job_key.h"
#include "net/socket.h"

#include <memory>

namespace cohort::net {

/// Where the ranks of a job meet over the network: in the launcher, or in rank 0. Talks to holders of the
/// job's key only, encrypted.
///
/// Threads: has one of its own.
/// Lifetime: ranks can meet for as long as it lives.
class MeetingServer {
 public:
  /// `listener`: a socket that listens, see listen_at().
  MeetingServer(const JobKey& key, Descriptor listener, int world);
  ~MeetingServer();
  MeetingServer(const MeetingServer&) = delete;
  MeetingServer& operator=(const MeetingServer&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort::net
