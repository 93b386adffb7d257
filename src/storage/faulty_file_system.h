#pragma once

#include "storage/memory_file_system.h"

#include <functional>
#include <mutex>

namespace cohort {

/// What an append that is made to fail has done before.
enum class FailedAppend { kAddsNothing, kAddsPrefix };

/// What goes wrong in a FaultyFileSystem, and when. Calls are counted from 1, over all methods of the file
/// system and of its files.
struct FileFaults {
  std::optional<std::uint64_t> fail_call =
      std::nullopt;  ///< this call fails with `code`, the later ones do not
  std::optional<std::uint64_t> crash_call = std::nullopt;  ///< at this call the power goes
  ErrorCode code = ErrorCode::kIo;
  FailedAppend append = FailedAppend::kAddsPrefix;
  std::uint64_t seed = 0;  ///< how long prefixes are, and what reaches the disk in a crash
};

/// A file system in memory on which a chosen call fails or the power goes.
///
///     MemoryFileSystem disk;
///     FaultyFileSystem fs(disk, {.crash_call = 7});
///     save(fs);        // fails at the seventh call with kAborted
///     fs.restart();
///     check(fs);       // sees what the disk holds after the power cut
///
/// Threads: as FileSystem; one call at a time takes effect.
/// Lifetime: the wrapped file system must outlive it.
/// Failure: from crash() to restart() every call is kAborted; files opened before the crash are kStale for
/// good.
class FaultyFileSystem final : public FileSystem {
 public:
  explicit FaultyFileSystem(MemoryFileSystem& inner, FileFaults faults = {})
      : inner_(inner), faults_(faults) {}

  /// How many calls there were so far, failed ones included. A file's destructor is none.
  std::uint64_t calls() const;
  /// The power goes: names that were not synced are lost, content but for a random part, drawn from the seed.
  void crash();
  /// The power is back.
  void restart();

  Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create_new(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Status make_directories(const std::string& directory) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status sync_directory(const std::string& directory) override;
  Result<std::uint64_t> free_bytes(const std::string& path) override;

 private:
  class Reader;
  class Writer;
  enum class Power { kOn, kOff };

  /// What a call on a file brings along.
  struct OnFile {
    std::optional<std::uint64_t> opened_after;  ///< the number of crashes before the file was opened
    std::function<void()> partly;               ///< done before a fault strikes, if there is any
  };
  /// Runs `body` as the next call, unless the power is gone, the file is stale or a fault strikes.
  template <class Body>
  auto call(Body body, const OnFile& file = {}) -> decltype(body());
  bool strikes_now() const;
  Error strike();
  void cut_power();

  MemoryFileSystem& inner_;
  const FileFaults faults_;
  mutable std::mutex mutex_;
  std::uint64_t calls_ = 0;
  std::uint64_t crashes_ = 0;
  Power power_ = Power::kOn;
};

}  // namespace cohort
