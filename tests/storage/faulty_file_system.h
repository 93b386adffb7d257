#pragma once

#include "storage/memory_file_system.h"

#include <functional>
#include <mutex>

namespace cohort {

/// The effect of an append that fails on purpose.
enum class FailedAppend { kAddsNothing, kAddsPrefix };

/// The faults of a FaultyFileSystem. Calls are counted from 1, over all methods of the file system and of its
/// files.
struct FileFaults {
  std::optional<std::uint64_t> fail_call = std::nullopt;   ///< only this call fails, with `code`
  std::optional<std::uint64_t> crash_call = std::nullopt;  ///< power cut at this call
  ErrorCode code = ErrorCode::kIo;
  FailedAppend append = FailedAppend::kAddsPrefix;
  std::uint64_t seed = 0;  ///< draws the length of prefixes and the data that survives a crash
};

/// A file system in memory on which a chosen call fails or cuts the power.
///
///     MemoryFileSystem disk;
///     FaultyFileSystem fs(disk, {.crash_call = 7});
///     save(fs);        // fails at the seventh call with kAborted
///     fs.restart();
///     check(fs);       // sees the state of the disk after the power cut
///
/// Threads: as FileSystem; one call at a time takes effect.
/// Lifetime: the wrapped file system must outlive this one.
/// Failure: from crash() to restart() every call fails with kAborted. Files that were opened before a crash
/// fail with kStale for ever.
class FaultyFileSystem final : public FileSystem {
 public:
  explicit FaultyFileSystem(MemoryFileSystem& inner, FileFaults faults = {})
      : inner_(inner), faults_(faults) {}

  /// Number of calls so far, failed calls included. Destructors of files do not count.
  std::uint64_t calls() const;
  /// Cuts the power: unsynced names are lost, and unsynced content except for a random prefix.
  void crash();
  /// Switches the power on again.
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
  Status check_writable(const std::string& directory) override;

 private:
  class Reader;
  class Writer;
  enum class Power { kOn, kOff };

  /// Arguments of a call on an open file.
  struct OnFile {
    std::optional<std::uint64_t> opened_after;  ///< number of crashes before the file was opened
    std::function<void()> partly;               ///< partial effect of the call if it fails; may be empty
  };
  /// Counts a call and runs `body`, unless the power is off, the file is stale or the fault is due.
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
