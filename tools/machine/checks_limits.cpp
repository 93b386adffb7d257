#include "machine/checks.h"

#include "base/units.h"

#include <fmt/format.h>

namespace cohort::machine {
namespace {

bool is_below(const std::optional<std::uint64_t>& limit, std::uint64_t needed) {
  return limit && *limit < needed;
}

std::string shown(const std::optional<std::uint64_t>& limit) {
  return limit ? fmt::format("{}", *limit) : "unlimited";
}

}  // namespace

void judge_open_files(const Survey& survey, const JobNeeds& needs, Findings& findings) {
  const auto& limit = survey.limits.open_files;
  if (!limit) return findings.unknown("open files", limit.error());
  const auto needed =
      static_cast<std::uint64_t>(needs.ranks) * static_cast<std::uint64_t>(needs.open_files_per_rank);
  const std::string wanted =
      fmt::format("{} ranks × {} = {}", needs.ranks, needs.open_files_per_rank, needed);
  if (is_below(limit->hard, needed)) {
    return findings.problem(
        "open files", fmt::format("{} needed, but at most {} are allowed", wanted, shown(limit->hard)),
        fmt::format(
            "Ask the administrator for 'nofile {}' in /etc/security/limits.conf, or start the container "
            "with --ulimit nofile={}.",
            needed, needed));
  }
  if (is_below(limit->soft, needed)) {
    return findings.warning("open files",
                            fmt::format("{} needed, but the limit is {} (it may be raised to {})", wanted,
                                        shown(limit->soft), shown(limit->hard)),
                            fmt::format("Run 'ulimit -n {}' in this shell first.", needed));
  }
  findings.fine("open files", fmt::format("{} allowed, {} needed", shown(limit->soft), needed));
}

void judge_core_files(const Survey& survey, const JobNeeds&, Findings& findings) {
  const auto& limit = survey.limits.core_file_bytes;
  if (!limit) return findings.unknown("core files", limit.error());
  if (is_below(limit->soft, 1)) {
    return findings.note("core files", "a crash leaves no core file",
                         "Run 'ulimit -c unlimited' first if you want to debug a crash.");
  }
  findings.fine("core files", "a crash may leave a core file");
}

void judge_disk(const Survey& survey, const JobNeeds&, Findings& findings) {
  constexpr std::uint64_t kLittleBytes = std::uint64_t{1} << 30;
  if (!survey.disk) return findings.unknown("disk", survey.disk.error());
  const std::string free = format_bytes(survey.disk->free_bytes) + " free";
  if (survey.disk->free_bytes < kLittleBytes) {
    return findings.warning("disk", free + ": snapshots may not fit",
                            "Free some space, or run the job in a directory of a larger disk.");
  }
  findings.fine("disk", free);
}

}  // namespace cohort::machine
