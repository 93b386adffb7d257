#pragma once

#include "ucx/library.h"

namespace cohort::ucx {

/// Takes a worker that nobody uses any more, and destroys it when no other member can still be about to
/// connect to it: UCX 1.13 ends the process of whoever answers a connection and finds the other end gone
/// (openucx/ucx#8175). A worker that nobody moves on is enough to be found there.
///
/// Threads: any.
/// Lifetime: what is left is destroyed when the process ends.
/// Cost: sockets and memory of the workers of the last seconds.
void retire(const UcxLibrary& library, ucp_worker_h worker, ucp_context_h context);

}  // namespace cohort::ucx
