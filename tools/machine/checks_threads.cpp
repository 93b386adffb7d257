#include "machine/checks.h"
#include "machine/kernel_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::machine {
namespace {

std::string setting(const Survey& survey, const std::string& name) {
  const auto found = survey.thread_settings.find(name);
  return found == survey.thread_settings.end() ? "" : found->second;
}

bool is_passive(std::string_view policy) {
  return policy == "PASSIVE" || policy == "passive";
}

}  // namespace

void judge_thread_counts(const Survey& survey, const JobNeeds& needs, Findings& findings) {
  const std::string omp = setting(survey, "OMP_NUM_THREADS");
  const std::string mkl = setting(survey, "MKL_NUM_THREADS");
  if (omp.empty()) {
    return findings.note(
        "thread counts", "OMP_NUM_THREADS is not set: a program started by hand takes every core",
        fmt::format("Start ranks with `cohort run`, which sets it, or set OMP_NUM_THREADS and "
                    "MKL_NUM_THREADS to {} for each rank that is started by hand.",
                    load_of(survey, needs).threads_per_rank));
  }
  if (!mkl.empty() && mkl != omp) {
    return findings.warning(
        "thread counts", fmt::format("OMP_NUM_THREADS={} but MKL_NUM_THREADS={}: the latter wins", omp, mkl),
        "Set both to the same number, or unset MKL_NUM_THREADS: it overrides the thread count of all of "
        "libtorch.");
  }
  const auto count = parse_count(std::string_view(omp).substr(
      0, omp.find(',')));  // the value may be a list, one number per nesting level
  const int wanted = load_of(survey, needs).threads_per_rank;
  if (!count || *count == 0) {
    return findings.warning("thread counts",
                            fmt::format("OMP_NUM_THREADS={} is not a number of threads", omp),
                            fmt::format("Set it to {}.", wanted));
  }
  if (*count > static_cast<std::uint64_t>(std::max(wanted, 1))) {
    return findings.warning(
        "thread counts", fmt::format("OMP_NUM_THREADS={} is more than the {} of a rank", omp, wanted),
        fmt::format("Set it to {}: with more threads than cores a step takes many times as long.", wanted));
  }
  findings.fine("thread counts", fmt::format("OMP_NUM_THREADS={}", omp));
}

void judge_waiting(const Survey& survey, const JobNeeds& needs, Findings& findings) {
  if (is_passive(setting(survey, "OMP_WAIT_POLICY")) || setting(survey, "GOMP_SPINCOUNT") == "0") {
    return findings.fine("waiting threads", "release their core");
  }
  if (load_of(survey, needs).is_too_much()) {
    return findings.warning("waiting threads", "spin, and keep cores from threads that have work",
                            "Set OMP_WAIT_POLICY=PASSIVE while there are more threads than cores.");
  }
  findings.fine("waiting threads", "spin, which is fastest while every thread has a core");
}

}  // namespace cohort::machine
