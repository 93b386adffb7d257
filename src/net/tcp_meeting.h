#pragma once

#include "net/job_key.h"
#include "net/meeting.h"
#include "net/socket.h"

#include <memory>
#include <vector>

namespace cohort::net {

/// The server of a meeting over TCP, in the launcher or in rank 0. Serves only clients that hold the key of
/// the job, over TLS.
///
/// Threads: runs a thread of its own.
/// Lifetime: serves until it is destroyed.
class MeetingServer {
 public:
  /// `listener`: a listening socket, see listen_at().
  MeetingServer(const JobKey& key, Descriptor listener, int world);
  ~MeetingServer();
  MeetingServer(const MeetingServer&) = delete;
  MeetingServer& operator=(const MeetingServer&) = delete;

  /// Tells ranks that the process of this rank has ended. From any thread.
  void tell_of_end(int rank);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A meeting at a MeetingServer.
///
/// Threads: one at a time; no progress is made between rounds.
/// Failure: kTimedOut names the missing ranks, or the address of a server that does not answer.
/// Cost: one connection, which stays open: a round is one request and one reply.
class MeetingClient final : public MeetingWithBoard {
 public:
  /// `addresses`: those of the server, to be tried in turn.
  MeetingClient(const JobKey& key, int rank, int world, const std::vector<SocketAddress>& addresses);
  ~MeetingClient() override;

  Result<std::vector<std::string>> gather(const Round& round, const std::string& card) override;
  Result<std::vector<Posting>> post(const Round& board, const std::string& card) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort::net
