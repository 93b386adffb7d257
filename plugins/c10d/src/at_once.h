#pragma once

namespace cohort::c10d_plugin {

/// Whether asynchronous calls of this thread run at once, so that they have ended when they return and
/// callbacks run in the order of the program. For hooks of DDP whose callbacks make further calls: between
/// the hooks of other buckets, these would come in a different order on each rank.
///
/// Threads: every thread has its own value. torch runs a hook on the thread of backward(), and tells the backend
/// nothing about it.
inline thread_local bool calls_run_at_once = false;

}  // namespace cohort::c10d_plugin
