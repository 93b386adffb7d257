#pragma once

#include "checkpoint/verify_shard.h"
#include "storage/file_system.h"

#include <map>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// Reads snapshots of one folder completely, and finds everything that is not as it was written: in the
/// manifest, in the files, in the index of weights, and elements that no file has. A snapshot that is a
/// difference is checked together with its base, which is read once for all of its differences.
///
/// Threads: one at a time.
/// Lifetime: the file system must outlive it.
/// Cost: reads every file once.
class Verifier {
 public:
  Verifier(FileSystem& files, std::string folder, BytesChecked report)
      : files_(files), folder_(std::move(folder)), report_(std::move(report)) {}

  /// The damage of the snapshot with this name. An empty result: all of it is as it was written.
  std::vector<Damage> verify(const std::string& name);

 private:
  /// A snapshot without its base.
  struct Checked {
    Manifest manifest{};
    bool has_manifest = false;
    std::vector<Damage> damaged{};
  };

  const Checked& checked(const std::string& name);
  void check(const std::string& name, Checked& into);
  void check_index(const std::string& path, Checked& into);

  FileSystem& files_;
  const std::string folder_;
  const BytesChecked report_;
  std::map<std::string, Checked> checked_;
};

}  // namespace cohort::checkpoint
