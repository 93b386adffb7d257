#include "world/open_meeting.h"

#include "net/file_meeting.h"
#include "net/tcp_meeting.h"
#include "storage/local_file_system.h"

#include <fcntl.h>
#include <fmt/format.h>

namespace cohort::world {
namespace {

using net::MeetingWithBoard;

/// The meeting of rank 0 that also runs the server.
class ServedMeeting final : public MeetingWithBoard {
 public:
  ServedMeeting(std::unique_ptr<net::MeetingServer> server, std::unique_ptr<MeetingWithBoard> client)
      : server_(std::move(server)), client_(std::move(client)) {}
  Result<std::vector<std::string>> gather(const net::Round& round, const std::string& card) override {
    return client_->gather(round, card);
  }
  Result<std::vector<net::Posting>> post(const net::Round& board, const std::string& card) override {
    return client_->post(board, card);
  }

 private:
  std::unique_ptr<net::MeetingServer> server_;
  std::unique_ptr<MeetingWithBoard> client_;
};

/// A FileMeeting in the file system of this machine, which it owns.
class LocalFileMeeting final : public MeetingWithBoard {
 public:
  LocalFileMeeting(const net::JobKey& key, const std::string& directory) : meeting_(key, files_, directory) {}
  Result<std::vector<std::string>> gather(const net::Round& round, const std::string& card) override {
    return meeting_.gather(round, card);
  }
  Result<std::vector<net::Posting>> post(const net::Round& board, const std::string& card) override {
    return meeting_.post(board, card);
  }

 private:
  LocalFileSystem files_;
  net::FileMeeting meeting_;
};

Result<std::unique_ptr<MeetingWithBoard>> meet_at(const LaunchFacts& facts, const net::JobKey& key,
                                                  const std::vector<Rendezvous::Address>& servers) {
  std::vector<net::SocketAddress> addresses;
  for (const Rendezvous::Address& server : servers) {
    COHORT_ASSIGN_OR_RETURN(const auto found,
                            net::look_up(server.host, static_cast<std::uint16_t>(server.port)));
    addresses.insert(addresses.end(), found.begin(), found.end());
  }
  return std::unique_ptr<MeetingWithBoard>(
      std::make_unique<net::MeetingClient>(key, facts.rank, facts.world, addresses));
}

Result<std::unique_ptr<MeetingWithBoard>> serve_at(const LaunchFacts& facts, const net::JobKey& key,
                                                   const Rendezvous::Address& address) {
  COHORT_ASSIGN_OR_RETURN(Descriptor listener, net::listen_for({}, static_cast<std::uint16_t>(address.port)));
  auto server = std::make_unique<net::MeetingServer>(key, std::move(listener), facts.world);
  COHORT_ASSIGN_OR_RETURN(auto client, meet_at(facts, key, {{"localhost", address.port}}));
  return std::unique_ptr<MeetingWithBoard>(
      std::make_unique<ServedMeeting>(std::move(server), std::move(client)));
}

}  // namespace

Result<net::JobKey> job_key(const LaunchFacts& facts) {
  if (facts.key.descriptor) {
    ::fcntl(*facts.key.descriptor, F_SETFD, FD_CLOEXEC);  // child processes do not get the key
    return net::JobKey::read_descriptor(*facts.key.descriptor);
  }
  if (facts.key.file) return net::JobKey::read(*facts.key.file);
  return Error(ErrorCode::kUsage,
               fmt::format("{} started ranks on several hosts without a key for their connections",
                           name(facts.launcher)))
      .with_remedy(
          "Make a key with `cohort key FILE` where all hosts see it, and set COHORT_KEY_FILE=FILE for all "
          "ranks; or start the ranks with cohort run --hosts.");
}

Result<std::unique_ptr<MeetingWithBoard>> open_meeting(const LaunchFacts& facts, const net::JobKey& key) {
  const Rendezvous& rendezvous = facts.rendezvous;
  if (!rendezvous.server.empty()) return meet_at(facts, key, rendezvous.server);
  if (rendezvous.directory) {
    return std::unique_ptr<MeetingWithBoard>(std::make_unique<LocalFileMeeting>(key, *rendezvous.directory));
  }
  if (rendezvous.address) {
    return facts.rank == 0 ? serve_at(facts, key, *rendezvous.address)
                           : meet_at(facts, key, {*rendezvous.address});
  }
  return Error(ErrorCode::kUsage,
               fmt::format("{} started {} ranks, {} of them on this host, without a rendezvous for all hosts",
                           name(facts.launcher), facts.world, facts.local_size))
      .with_remedy(
          "Set COHORT_RENDEZVOUS to file:DIRECTORY that all hosts see, or to rank0:HOST:PORT, the same for "
          "all ranks; or start the ranks with cohort run --hosts.");
}

}  // namespace cohort::world
