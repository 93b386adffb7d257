#pragma once

#include "base/result.h"
#include "mpi/shim/abi.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::mpi {

/// The MPI implementation; binary interfaces differ.
enum class Implementation { kOpenMpi, kMpich };

/// `openmpi` or `mpich`, as in file names and on command lines.
std::string_view name(Implementation implementation);

/// The MPI to load.
struct LibraryOptions {
  Implementation implementation = Implementation::kOpenMpi;
  std::string shim_directory{};  ///< the directory of the shims
  std::string library{};         ///< path of libmpi; empty: the one that the dynamic loader finds
};

/// Loads the shim of an implementation and, with it, its libmpi. Neither is ever unloaded.
///
/// Failure: kNotFound names the package to install; kUnsupported if the shim has another version than this
/// Cohort.
Result<const CohortMpiShim*> load_shim(const LibraryOptions& options);

/// The MPI of this process, loaded at run time through a shim.
///
/// Threads: every method from any thread.
/// Lifetime: one per process, because MPI can be started only once; never unloaded. finish() ends MPI. A
/// process that ends without finish() counts as failed for its launcher, unless the launcher tolerates lost
/// ranks.
/// Failure: kNotFound names the package to install; kUnsupported for an MPI without MPI_THREAD_MULTIPLE.
class Library {
 public:
  /// Loads the shim and starts MPI. Every rank of the job calls this.
  static Result<std::shared_ptr<Library>> load(const LibraryOptions& options);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  int rank() const { return rank_; }
  int size() const { return world_; }
  const CohortMpiShim& shim() const { return shim_; }
  /// `Open MPI v4.1.4, …`: the library that runs, which may differ from the one that the shim was compiled
  /// for.
  const std::string& text() const { return text_; }
  /// Whether load() started MPI; false if other code of this process had started it before.
  bool is_ours() const { return is_ours_; }
  /// Whether the job continues after the loss of a rank.
  bool can_recover() const { return can_recover_; }
  /// The MPI communicator for messages between all ranks; never revoked.
  CohortMpiHandle messages() const { return messages_; }

  /// Translates an error code of the shim; `what` is the text before MPI's own.
  Error error(int code, std::string_view what) const;
  Status status(int code, std::string_view what) const;

  /// The next number of this rank for tags; no other rank gives out the same one.
  int fresh_tag();
  /// Keeps `remains` until the process ends, because MPI may still use its memory.
  void keep(std::shared_ptr<void> remains);
  /// Asks MPI which ranks are lost. Threads that compare num_looks() notice that there is news.
  void look_for_losses();
  int num_looks() const { return num_looks_.load(std::memory_order_acquire); }
  std::vector<int> lost_ranks() const;

  /// Ends MPI; waits for all ranks. After the loss of a rank, MPI is left as it is.
  Status finish();
  /// Ends all processes of the job with this exit code (MPI_Abort).
  void abort_job(int exit_code) const { shim_.abort(exit_code); }

 private:
  explicit Library(const CohortMpiShim& shim) : shim_(shim) {}
  Status start();
  bool has_lost_anybody();
  void meet_for_the_last_time();

  const CohortMpiShim& shim_;
  int rank_ = 0;
  int world_ = 1;
  int tag_limit_ = 0;
  bool is_ours_ = false;
  bool can_recover_ = false;
  CohortMpiHandle messages_ = 0;
  std::string text_;
  std::atomic<int> num_tags_{0};
  std::atomic<int> num_looks_{0};

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<void>> remains_;
  std::vector<int> lost_;
};

/// The directory of the shims: that of the library or program which contains this code, or the lib directory
/// beside it.
std::string own_shim_directory(Implementation implementation);

/// The MPI of this process. The first call loads it, later calls return the same library. When the process
/// exits with code 0 and no group uses MPI any more, MPI is finalized. A process that ends otherwise does not
/// finalize MPI, so that its launcher counts it as failed and ends the other ranks.
///
/// The library is state of the process, because MPI can be started and ended only once.
///
/// Threads: from any thread.
/// Failure: as Library::load(); kUsage if another MPI was loaded before.
/// Cost: a process that exits with code 0 waits for all ranks to exit, as MPI_Finalize does.
Result<std::shared_ptr<Library>> own_library(const LibraryOptions& options);

}  // namespace cohort::mpi
