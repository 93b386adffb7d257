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

/// Whose MPI: their binary interfaces differ.
enum class Implementation { kOpenMpi, kMpich };

inline constexpr Implementation kAllImplementations[] = {Implementation::kOpenMpi, Implementation::kMpich};

/// `openmpi`, `mpich`: as in file names and on command lines.
std::string_view name(Implementation implementation);

struct LibraryOptions {
  Implementation implementation = Implementation::kOpenMpi;
  std::string shim_directory{};  ///< where the shims lie
  std::string library{};         ///< which libmpi; empty: the one that the system's loader finds
};

/// The MPI of this process, loaded at run time through a shim.
///
/// Threads: every method from any thread.
/// Lifetime: MPI can be started once in a process, so there is one. It is never unloaded. finish() ends MPI;
/// a process that ends without it has failed in the eyes of its launcher, unless that bears losses.
/// Failure: what is not installed is kNotFound and names the package; an MPI that threads may not call is
/// kUnsupported.
class Library {
 public:
  /// Loads the shim and starts MPI. Every rank of the job calls this.
  static Result<std::shared_ptr<Library>> load(const LibraryOptions& options);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  int rank() const { return rank_; }
  int world() const { return world_; }
  const CohortMpiShim& shim() const { return shim_; }
  /// `Open MPI v4.1.4, …`: what runs, which need not be what the shim was compiled for.
  const std::string& text() const { return text_; }
  /// Whether MPI was started here, and not by somebody else in this process before.
  bool is_ours() const { return is_ours_; }
  /// Whether the job goes on when a rank is lost.
  bool can_recover() const { return can_recover_; }
  /// What carries messages between all ranks; never revoked.
  CohortMpiHandle messages() const { return messages_; }

  /// What a code of the shim says, in words.
  Error error(int code, std::string_view what) const;
  Status status(int code, std::string_view what) const;

  /// The n-th number that this rank gives out, different from those of all other ranks; for tags.
  int fresh_tag();
  /// Keeps something until the process ends: MPI may still use its memory.
  void keep(std::shared_ptr<void> remains);
  /// Asks MPI which ranks are lost, and tells everybody who looks at num_looks().
  void look_for_losses();
  int num_looks() const { return num_looks_.load(std::memory_order_acquire); }
  std::vector<int> lost_ranks() const;

  /// Ends MPI, together with all ranks; with some of them lost it is left as it is.
  Status finish();
  /// Ends all processes of the job with this exit code.
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

}  // namespace cohort::mpi
