#pragma once

namespace cohort::comm {

/// Tells the core that this is a loop that waits.
inline void spin_once() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace cohort::comm
