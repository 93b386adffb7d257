#include "train/rank_settings.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <malloc.h>

namespace cohort::train {

std::string settle_in(int threads) {
  constexpr int kNever = 1 << 30;
  const bool keeps = ::mallopt(M_MMAP_THRESHOLD, kNever) == 1 && ::mallopt(M_TRIM_THRESHOLD, kNever) == 1;
  at::set_num_threads(threads);
  return fmt::format(
      "{} compute thread{}; {}", threads, threads == 1 ? "" : "s",
      keeps ? "the allocator keeps large blocks" : "the allocator could not be told to keep large blocks");
}

}  // namespace cohort::train
