#include "launch/exit_status.h"

#include <csignal>
#include <cstring>
#include <fmt/format.h>

namespace cohort {

std::string ExitStatus::text() const {
  if (code) return fmt::format("exited with {}", *code);
  if (!signal) return "ended in an unknown way";
  const char* name = sigabbrev_np(*signal);
  if (name == nullptr) return fmt::format("was killed by signal {}", *signal);
  return fmt::format("was killed by signal {} (SIG{})", *signal, name);
}

}  // namespace cohort
