#include "machine/checks.h"

#include "base/units.h"

#include <fmt/format.h>
#include <limits>

namespace cohort::machine {
namespace {

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint64_t>::max();

// The memory of all ranks together; a sum that overflows 64 bits exceeds every machine.
std::uint64_t needed_bytes(const JobNeeds& needs) {
  std::uint64_t each = 0;
  std::uint64_t all = 0;
  if (__builtin_add_overflow(needs.memory_per_rank_bytes, needs.shared_memory_per_rank_bytes, &each) ||
      __builtin_mul_overflow(each, static_cast<std::uint64_t>(needs.ranks), &all)) {
    return kMostBytes;
  }
  return all;
}

}  // namespace

// Anonymous shared memory is ordinary memory, so both needs count against the same number.
void judge_memory(const Survey& survey, const JobNeeds& needs, Findings& findings) {
  const auto usable = usable_bytes(survey.memory);
  if (!usable) return findings.unknown("memory", survey.memory.available_bytes.error());
  const std::uint64_t needed = needed_bytes(needs);
  const double allowed = static_cast<double>(*usable) * (1.0 - needs.memory_headroom);
  const std::string numbers = fmt::format(
      "{} of {} usable", format_bytes(static_cast<std::uint64_t>(allowed)), format_bytes(*usable));
  if (static_cast<double>(needed) > allowed) {
    return findings.problem(
        "memory", fmt::format("{} ranks need {}, but may use {}", needs.ranks, format_bytes(needed), numbers),
        fmt::format(
            "Use fewer ranks, smaller batches or shards of the state, or lower the headroom of {:.0f} %; "
            "check other programs and the memory limit of the container.",
            needs.memory_headroom * 100));
  }
  findings.fine("memory", needed == 0 ? format_bytes(*usable) + " usable"
                                      : fmt::format("{} needed, {}", format_bytes(needed), numbers));
}

void judge_swap(const Survey& survey, const JobNeeds&, Findings& findings) {
  const Memory& memory = survey.memory;
  if (!memory.swap_total_bytes) return findings.unknown("swap", memory.swap_total_bytes.error());
  if (!memory.swap_free_bytes) return findings.unknown("swap", memory.swap_free_bytes.error());
  if (*memory.swap_free_bytes < *memory.swap_total_bytes) {
    const std::uint64_t used = *memory.swap_total_bytes - *memory.swap_free_bytes;
    return findings.note(
        "swap", format_bytes(used) + " in use: this machine has been short of memory",
        "End other programs that use memory; a rank whose pages are swapped out delays all others.");
  }
  findings.fine("swap", *memory.swap_total_bytes == 0 ? "none" : "not in use");
}

void judge_memfd(const Survey& survey, const JobNeeds&, Findings& findings) {
  const auto& memfd = survey.shared_memory.memfd;
  if (!memfd) {
    return findings.problem(
        "shared memory", "ranks cannot share memory: " + memfd.error().text(),
        "Allow memfd_create and mmap in the sandbox of the container (seccomp), or use Linux 3.17 or newer.");
  }
  findings.fine("shared memory", "memfd works; it counts as ordinary memory");
}

void judge_dev_shm(const Survey& survey, const JobNeeds&, Findings& findings) {
  constexpr std::uint64_t kTinyBytes = std::uint64_t{64} << 20;  // the default of containers
  const auto& space = survey.shared_memory.dev_shm;
  if (!space) return findings.unknown("/dev/shm", space.error());
  if (space->total_bytes <= kTinyBytes) {
    return findings.note(
        "/dev/shm", fmt::format("only {}; Cohort does not use it", format_bytes(space->total_bytes)),
        "Nothing to do for Cohort itself; MPI and data loaders of other programs may need more: "
        "start the container with --shm-size=1g.");
  }
  findings.fine("/dev/shm", fmt::format("{} free of {}", format_bytes(space->free_bytes),
                                        format_bytes(space->total_bytes)));
}

void judge_overcommit(const Survey& survey, const JobNeeds&, Findings& findings) {
  const auto& overcommit = survey.shared_memory.overcommit;
  if (!overcommit) return findings.unknown("overcommit", overcommit.error());
  if (*overcommit == Overcommit::kNever) {
    return findings.note(
        "overcommit", "mode 2: memory is refused although it is not in use yet",
        "Set vm.overcommit_memory=0, or raise vm.overcommit_ratio, if ranks run out of memory early.");
  }
  findings.fine("overcommit", fmt::format("mode {}", static_cast<int>(*overcommit)));
}

void judge_huge_pages(const Survey& survey, const JobNeeds&, Findings& findings) {
  const auto& mode = survey.shared_memory.huge_pages;
  if (!mode) return findings.unknown("huge pages", mode.error());
  if (*mode == "never") {
    return findings.note("huge pages", "switched off: large tensors cost more page faults",
                         "Write madvise to /sys/kernel/mm/transparent_hugepage/enabled.");
  }
  findings.fine("huge pages", *mode);
}

}  // namespace cohort::machine
