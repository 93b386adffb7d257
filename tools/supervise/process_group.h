#pragma once

#include <set>
#include <sys/types.h>

namespace cohort {

/// The process group of a child: who gets signals together with it.
enum class ProcessGroup {
  kOurs,  ///< the group of the parent: a Ctrl-C on the terminal reaches both
  kOwn,   ///< a new group: the child leads it, and its descendants belong to it
};

namespace supervise {

/// The process groups with at least one running process; zombies do not count.
///
/// Failure: a process whose entry in /proc cannot be read is skipped.
/// Cost: reads /proc/PID/stat of every process of the machine.
std::set<pid_t> living_groups();

/// Whether the process is stopped (SIGSTOP, or a debugger).
bool is_stopped(pid_t process);

}  // namespace supervise
}  // namespace cohort
