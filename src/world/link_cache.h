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
  std::string way{};  ///< engine and secrecy: `tcp-tls`

  /// The same whichever host asks.
  std::string text() const;
};

/// What earlier jobs found out about links, in a file of lines `NAME LATENCY_S BYTE_S SECONDS_SINCE_1970`.
///
/// Threads, processes: of several that keep() at the same time one may win over the others; nothing breaks.
/// Failure: what cannot be read is not known, and what cannot be written is forgotten: it is found out again.
class LinkCache {
 public:
  static constexpr std::chrono::hours kGoodFor{24};

  /// In this directory, which is made if it is not there; empty: nothing is remembered.
  LinkCache(FileSystem& files, const std::string& directory);

  std::optional<comm::LinkFigures> find(const LinkName& name) const;
  void keep(const LinkName& name, const comm::LinkFigures& figures);

 private:
  struct Entry {
    std::string name{};
    comm::LinkFigures figures{};
    std::int64_t found_at_s = 0;
  };
  std::vector<Entry> read() const;

  FileSystem& files_;
  const std::string directory_;
};

}  // namespace cohort::world
