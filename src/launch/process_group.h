#pragma once

#include <set>
#include <sys/types.h>

namespace cohort {

/// Whom a program shares signals with.
enum class ProcessGroup {
  kOurs,  ///< the group of whoever started it: a Ctrl-C on the terminal reaches both
  kOwn,   ///< a group that it leads, of itself and its descendants
};

namespace launch {

/// The process groups in which somebody still runs; who has ended and was not reaped does not count.
///
/// Failure: what cannot be read in /proc looks as if it did not run.
/// Cost: a look at every process of the machine.
std::set<pid_t> living_groups();

/// Whether a signal has stopped the process, and none has let it go on.
bool is_stopped(pid_t process);

}  // namespace launch
}  // namespace cohort
