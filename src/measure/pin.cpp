#include "measure/pin.h"

#include "base/system_error.h"

#include <sched.h>
#include <vector>

namespace cohort::measure {

Status pin_to_core_of(int rank) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return system_error("cannot ask for the cores", errno);
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  CPU_SET(cores[static_cast<std::size_t>(rank) % cores.size()], &wanted);
  if (::sched_setaffinity(0, sizeof wanted, &wanted) != 0) {
    return system_error("cannot stay on one core", errno);
  }
  return {};
}

}  // namespace cohort::measure
