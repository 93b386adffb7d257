#pragma once

#include "comm/link_probe.h"
#include "storage/file_system.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort::world {

/// A host as links to it are remembered: the same for all processes of a host, for as long as it runs with
/// these addresses.
std::uint64_t host_identity(FileSystem& files, const std::vector<std::string>& addresses);

/// What a link between two hosts is remembered under: their identities, and how they talk.
struct LinkName {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::string way{};  ///< engine, secrecy and number of sockets: `tcp-tls-1`

  /// The same whichever host asks; the name of a file.
  std::string text() const;
};

/// What earlier jobs found out about links: a file for each, with one line `LATENCY_S BYTE_S
/// SECONDS_SINCE_1970`.
///
/// Processes: one at a time keeps a link; of several jobs that do so at the same time one wins.
/// Failure: what cannot be read is not known, and what cannot be written is forgotten: it is found out again.
class LinkCache {
 public:
  static constexpr std::chrono::hours kGoodFor{24};

  /// In this directory, which is made if it is not there; empty: nothing is remembered.
  LinkCache(FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

  std::optional<comm::LinkFigures> find(const LinkName& name) const;
  void keep(const LinkName& name, const comm::LinkFigures& figures);

 private:
  std::string path_of(const LinkName& name) const { return directory_ + "/" + name.text(); }

  FileSystem& files_;
  const std::string directory_;
};

}  // namespace cohort::world
