#pragma once

#include "machine/sources.h"

#include <string>
#include <string_view>

namespace cohort::machine {

/// The kernel's mode of overcommitting memory.
enum class Overcommit {
  kGuess,   ///< 0: only obvious excess is refused
  kAlways,  ///< 1: no request is refused
  kNever,   ///< 2: the sum of all requests is limited
};

/// The means by which ranks on one host share memory.
struct SharedMemory {
  Fact<Works> memfd;  ///< anonymous shared memory, which Cohort uses; tried by creating one page
  Fact<Space> dev_shm;
  Fact<Overcommit> overcommit;
  Fact<std::string> huge_pages;  ///< `always`, `madvise` or `never`
};

/// Parses the text of /proc/sys/vm/overcommit_memory.
Result<Overcommit> parse_overcommit(std::string_view text);
/// The word in brackets of `always [madvise] never`.
Result<std::string> parse_chosen_word(std::string_view text);

/// Creates a page of anonymous shared memory, writes to it and frees it.
Result<Works> try_memfd();

SharedMemory survey_shared_memory(const ReadText& read, const MeasureSpace& measure_space);

}  // namespace cohort::machine
