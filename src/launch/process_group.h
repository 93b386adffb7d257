#pragma once

#include <sys/types.h>

namespace cohort {

/// Whom a program shares signals with.
enum class ProcessGroup {
  kOurs,  ///< the group of whoever started it: a Ctrl-C on the terminal reaches both
  kOwn,   ///< a group that it leads, of itself and its descendants
};

namespace launch {

/// Whether a process of this group still runs; one that has ended and was not reaped does not count.
///
/// Failure: where /proc cannot be read it looks as if nobody ran.
/// Cost: a look at every process of the machine.
bool group_lives(pid_t group);

}  // namespace launch
}  // namespace cohort
