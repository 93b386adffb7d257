#pragma once

#include "bench/bench_communicator.h"
#include "bench/synthetic_state.h"
#include "checkpoint/saver.h"
#include "measure/protocol.h"
#include "storage/local_file_system.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cohort::tool {

/// One rank of ours, and of the plain contenders that write, read and copy the same bytes of the same memory:
///
///     save    a synchronous save of a snapshot          write   write(2) in parts of 1 MiB, then fsync(2)
///     load    restoring that snapshot                   read    read(2) of those files into the same memory
///     stall   the part of an asynchronous save          copy    memcpy of what this rank has to write
///             for which training waits
///
/// All ranks run a work at the same time. `load` needs the `save` with the same salt, `read` the `write`.
///
/// Threads: one.
/// Failure: kCorrupt if what was loaded, read or copied is not what was there before; kUnsupported for
/// another word; else as Saver and restore().
/// Cost: files for three times the state; memory for twice this rank's part of it.
class CheckpointContender {
 public:
  static Result<std::unique_ptr<CheckpointContender>> open(const BenchSeat& seat, std::uint64_t total_bytes);

  /// One sample. Filling, checking and removing the files of the turn before are not timed.
  Result<measure::Interval> run(const measure::StateCommand& command);

 private:
  CheckpointContender(const BenchSeat& seat, std::uint64_t total_bytes, BenchCommunicator bench);
  Status open_savers();

  Result<measure::Interval> save(std::uint64_t salt);
  Result<measure::Interval> write(std::uint64_t salt);
  Result<measure::Interval> load(std::uint64_t salt);
  Result<measure::Interval> read(std::uint64_t salt);
  Result<measure::Interval> stall(std::uint64_t salt);
  Result<measure::Interval> copy(std::uint64_t salt);

  template <class Work>
  Result<measure::Interval> timed(const Work& work);
  Status restore_from(const std::string& folder);
  Status clear(const std::string& folder);
  Status write_plain();
  Status read_plain();
  std::string plain_file(int rank) const;
  /// The part of the parameters that this rank writes.
  std::span<std::byte> parameters_of(int rank);

  const BenchSeat seat_;
  BenchCommunicator bench_;
  LocalFileSystem files_;
  SyntheticState state_;
  std::vector<std::byte> copy_;
  std::unique_ptr<checkpoint::Saver> at_once_;
  std::unique_ptr<checkpoint::Saver> behind_;
};

}  // namespace cohort::tool
