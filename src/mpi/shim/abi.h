#pragma once

#include <stdint.h>

// The interface of a shim: one MPI implementation behind plain C types, so that Cohort is compiled without
// any mpi.h. A shim is a small library that is compiled against one mpi.h and exports only cohort_mpi_shim().
//
// Handles are opaque 64-bit values; 0 is no handle. Functions return 0 or an error code of the
// implementation, for error_kind() and error_text().
//
// Threads: as MPI with MPI_THREAD_MULTIPLE: every function from any thread.
// Versions: the number rises whenever this file changes; Cohort loads only a shim of its own version.

#ifdef __cplusplus
extern "C" {
#endif

#define COHORT_MPI_SHIM_VERSION 3u

typedef uint64_t CohortMpiHandle;

enum CohortMpiOperation {
  kCohortMpiBarrier,
  kCohortMpiAllReduce,
  kCohortMpiReduce,
  kCohortMpiBroadcast,
  kCohortMpiReduceScatter,
  kCohortMpiAllGather,
  kCohortMpiGather,
  kCohortMpiScatter,
  kCohortMpiAllToAll,
};

/// The first seven can be combined; the others are only moved, by width.
enum CohortMpiType {
  kCohortMpiF32,
  kCohortMpiF64,
  kCohortMpiI8,
  kCohortMpiI16,
  kCohortMpiI32,
  kCohortMpiI64,
  kCohortMpiU8,
  kCohortMpiWidth1,
  kCohortMpiWidth2,
  kCohortMpiWidth4,
  kCohortMpiWidth8,
};

/// A NaN in any input of min or max gives a NaN.
enum CohortMpiReduction {
  kCohortMpiSum,
  kCohortMpiMin,
  kCohortMpiMax,
  kCohortMpiProduct,
  kCohortMpiAnd,
  kCohortMpiOr,
  kCohortMpiXor,
};

enum CohortMpiErrorKind {
  kCohortMpiFine,
  kCohortMpiOther,
  kCohortMpiPeerLost,
  kCohortMpiRevoked,
  kCohortMpiTruncated,
};

/// As input (as output in scatter): MPI_IN_PLACE.
#define COHORT_MPI_IN_PLACE ((void*)1)
#define COHORT_MPI_ANY_SOURCE (-1)
#define COHORT_MPI_NO_COLOUR (-1)

/// One collective call. If counts are null, all parts have the length `input_count` or `output_count`.
typedef struct CohortMpiCollective {
  CohortMpiHandle comm;
  enum CohortMpiOperation operation;
  enum CohortMpiType type;
  enum CohortMpiReduction reduction;
  int root;
  void* input;
  void* output;
  int input_count;
  int output_count;
  const int* input_counts;
  const int* input_offsets;
  const int* output_counts;
  const int* output_offsets;
} CohortMpiCollective;

typedef struct CohortMpiShim {
  uint32_t version;
  const char* compiled_for;  ///< `Open MPI 4.1.4`

  /// Starts MPI unless it was started before. `is_ours`: started here, so Cohort ends it. `is_threaded`:
  /// MPI_THREAD_MULTIPLE is supported.
  int (*init)(int* is_ours, int* is_threaded);
  int (*finalize)(void);
  /// Ends all processes of the job with this exit code.
  int (*abort)(int exit_code);
  int (*library_text)(char* text, int size);
  int (*tag_limit)(int* largest);

  CohortMpiHandle (*world)(void);
  int (*rank)(CohortMpiHandle comm, int* rank);
  int (*size)(CohortMpiHandle comm, int* size);
  /// The rank in MPI_COMM_WORLD of each rank of the communicator.
  int (*world_ranks)(CohortMpiHandle comm, int* ranks);
  int (*duplicate)(CohortMpiHandle comm, CohortMpiHandle* copy);
  int (*split)(CohortMpiHandle comm, int colour, int key, CohortMpiHandle* part);
  int (*release)(CohortMpiHandle comm);

  int (*start)(const CohortMpiCollective* collective, CohortMpiHandle* request);
  int (*run)(const CohortMpiCollective* collective);
  int (*send)(CohortMpiHandle comm, const void* bytes, int size, int to, int tag, CohortMpiHandle* request);
  int (*receive)(CohortMpiHandle comm, void* bytes, int size, int from, int tag, CohortMpiHandle* request);
  int (*probe)(CohortMpiHandle comm, int tag, int* from, int* size, int* is_there);
  int (*test)(CohortMpiHandle* request, int* is_done);
  /// Receives and drops every message that has arrived.
  int (*drain)(CohortMpiHandle comm);

  enum CohortMpiErrorKind (*error_kind)(int code);
  void (*error_text)(int code, char* text, int size);

  /// Whether the job continues after the loss of a rank. If not, the functions below must not be called.
  int (*can_recover)(void);
  int (*revoke)(CohortMpiHandle comm);
  /// A request for test() that completes when all living ranks have begun one; an error of test() that is
  /// kCohortMpiPeerLost completes it as well.
  int (*begin_agreement)(CohortMpiHandle comm, CohortMpiHandle* request);
  int (*shrink)(CohortMpiHandle comm, CohortMpiHandle* survivors);
  /// The lost ranks of the communicator, at most `cap`. Receives from any source work again afterwards.
  int (*lost_ranks)(CohortMpiHandle comm, int* ranks, int cap, int* num_lost);
} CohortMpiShim;

/// The only exported symbol of a shim.
const CohortMpiShim* cohort_mpi_shim(void);
#define COHORT_MPI_SHIM_SYMBOL "cohort_mpi_shim"

#ifdef __cplusplus
}
#endif
