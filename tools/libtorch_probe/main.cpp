// Loads libtorch, multiplies two matrices and prints its findings, one `key value` line each.

#include "torch_facts.h"

#include <ctime>
#include <exception>
#include <fmt/format.h>
#include <iostream>

namespace {

double cpu_ms() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

}  // namespace

int main() {
  const double load_ms = cpu_ms();  // time before main: loading and linking the library
  try {
    const cohort::TorchFacts facts = cohort::torch_facts();
    std::cout << fmt::format(
        "version {}\nthreads {}\ncapability {}\nfolder {}\nmatmul_ms {:.3f}\nload_ms {:.1f}\n", facts.version,
        facts.threads, facts.capability, facts.folder, facts.matmul_ms, load_ms);
  } catch (const std::exception& exception) {
    std::cerr << exception.what() << '\n';
    return 1;
  }
  return 0;
}
