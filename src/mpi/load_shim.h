#pragma once

#include "mpi/library.h"

namespace cohort::mpi {

/// Loads the shim of an implementation, and its libmpi with it; neither is ever unloaded.
///
/// Failure: kNotFound with the package to install, kUnsupported for a shim of another version.
Result<const CohortMpiShim*> load_shim(const LibraryOptions& options);

}  // namespace cohort::mpi
