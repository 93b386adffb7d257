#pragma once

#include "comm/probe/link_probe.h"
#include "storage/file_system.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort::world {

/// Identifies a host in the link cache. The same for all processes of a host; a reboot or other addresses
/// change it.
std::uint64_t host_identity(FileSystem& files, const std::vector<std::string>& addresses);

/// The key of a link between two hosts in the cache.
struct LinkName {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::string way{};  ///< backend, encryption and number of sockets: `tcp-tls-1`

  /// The file name; the same on both hosts.
  std::string text() const;
};

/// Measurements of links by earlier jobs: one file for each link, with one line `LATENCY_S BYTE_S
/// SECONDS_SINCE_1970`.
///
/// Threads: one at a time. Files are replaced atomically: of several jobs that write the same link, the last
/// one wins.
/// Lifetime: the file system must outlive the cache.
/// Failure: never reported: a link whose file is missing, old, corrupt or not writable is measured again.
class LinkCache {
 public:
  static constexpr std::chrono::hours kGoodFor{24};

  /// Keeps its files in `directory`, which is made if necessary; without a directory nothing is kept.
  LinkCache(FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

  std::optional<comm::LinkFigures> find(const LinkName& name) const;
  void keep(const LinkName& name, const comm::LinkFigures& figures);

 private:
  std::string path_of(const LinkName& name) const { return directory_ + "/" + name.text(); }

  FileSystem& files_;
  const std::string directory_;
};

}  // namespace cohort::world
