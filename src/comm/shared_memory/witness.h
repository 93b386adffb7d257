#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "comm/shared_memory/arena.h"

#include <sys/types.h>

namespace cohort::comm {

/// Another member of this host, known by its process and by the first page of its arena: both can be looked
/// at between generations, when there is no connection to the member.
///
/// Threads: every method from any thread.
/// Lifetime: the page stays mapped after the end of the member's process.
class Witness {
 public:
  /// `arena`: the file of the member's arena.
  static Result<Witness> of(pid_t process, const Descriptor& arena);

  pid_t process() const { return process_; }
  /// Whether the process has ended, as the kernel says.
  bool has_ended() const;
  const ArenaHeader& header() const { return *reinterpret_cast<const ArenaHeader*>(page_.data()); }

 private:
  Witness(pid_t process, Descriptor pidfd, Mapping page)
      : process_(process), pidfd_(std::move(pidfd)), page_(std::move(page)) {}

  pid_t process_;
  Descriptor pidfd_;  // not open if the process had ended before
  Mapping page_;
};

}  // namespace cohort::comm
