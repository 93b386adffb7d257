#pragma once

#include "machine/fact.h"
#include "machine/sources.h"

#include <string>
#include <string_view>

namespace cohort::machine {

/// What the kernel does when more memory is asked for than there is.
enum class Overcommit {
  kGuess,   ///< 0: obvious excess is refused
  kAlways,  ///< 1: nothing is refused
  kNever,   ///< 2: what is promised never exceeds a limit
};

/// What ranks on one host share memory with.
struct SharedMemory {
  Fact<Works> memfd;  ///< anonymous shared memory, tried out: Cohort's own way
  Fact<Space> dev_shm;
  Fact<Overcommit> overcommit;
  Fact<std::string> huge_pages;  ///< `always`, `madvise` or `never`
};

/// From the text of /proc/sys/vm/overcommit_memory.
Result<Overcommit> parse_overcommit(std::string_view text);
/// The word in brackets of `always [madvise] never`.
Result<std::string> parse_chosen_word(std::string_view text);

/// Makes a page of anonymous shared memory, writes to it and gives it back.
Result<Works> try_memfd();

SharedMemory survey_shared_memory(const ReadText& read, const MeasureSpace& measure_space);

}  // namespace cohort::machine
