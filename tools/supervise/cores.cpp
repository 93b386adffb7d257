#include "supervise/cores.h"

#include "base/check.h"
#include "base/system_error.h"

#include <algorithm>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace cohort::supervise {

Result<std::vector<int>> allowed_cores() {
  constexpr std::size_t kMaskWords = 1024;  // 65536 cores
  constexpr int kBits = 8 * static_cast<int>(sizeof(unsigned long));
  std::vector<unsigned long> mask(kMaskWords);
  // The raw system call returns the number of bytes that the kernel wrote; the wrapper of the C library does
  // not.
  const long size_bytes =
      ::syscall(SYS_sched_getaffinity, 0, mask.size() * sizeof(unsigned long), mask.data());
  if (size_bytes < 0) return system_error("cannot read which cores this process may run on", errno);
  std::vector<int> cores;
  for (int core = 0; core < static_cast<int>(size_bytes) * 8; ++core) {
    if ((mask[static_cast<std::size_t>(core / kBits)] >> (core % kBits) & 1UL) != 0) cores.push_back(core);
  }
  return cores;
}

std::vector<int> cores_of_rank(const std::vector<int>& cores, int rank, int ranks) {
  COHORT_CHECK(!cores.empty());
  COHORT_CHECK(0 <= rank && rank < ranks, "rank {} of {}", rank, ranks);
  const int count = static_cast<int>(cores.size());
  if (ranks >= count) return {cores[static_cast<std::size_t>(rank % count)]};
  const int least = count / ranks;
  const int larger = count % ranks;  // this many ranks get one core more
  const int begin = rank * least + std::min(rank, larger);
  const int size = least + (rank < larger ? 1 : 0);
  return {cores.begin() + begin, cores.begin() + begin + size};
}

}  // namespace cohort::supervise
