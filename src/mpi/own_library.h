#pragma once

#include "mpi/library.h"

namespace cohort::mpi {

/// Where the shims lie: beside the library or program that this code is in, or in the lib folder beside its
/// folder.
std::string own_shim_directory(Implementation implementation);

/// The MPI of this process: loaded by whoever asks first, the same for all that follow, and ended when the
/// process ends with exit code 0 and nobody uses it any more. A process that ends in another way leaves MPI
/// as it is, so that its launcher takes it for failed and ends the other ranks.
///
/// This is the one thing that a process keeps by itself: MPI can be started and ended once.
///
/// Threads: from any thread.
/// Failure: as Library::load(); kUsage if another MPI was loaded before.
/// Cost: a process that ends well waits for all ranks to do so, as MPI_Finalize does.
Result<std::shared_ptr<Library>> own_library(const LibraryOptions& options);

}  // namespace cohort::mpi
