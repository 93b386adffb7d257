#include "torch_facts.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <filesystem>

namespace cohort {
namespace {

double best_matmul_ms() {
  const at::Tensor a = at::ones({512, 512});
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const at::Tensor product = at::matmul(a, a);
    TORCH_CHECK(product.select(0, 511).select(0, 511).item<float>() == 512.0f, "a matrix product is wrong");
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// at::show_config() contains "TORCH_VERSION=2.13.0, " among the build settings.
std::string loaded_version() {
  const std::string description = at::show_config();
  const std::string key = "TORCH_VERSION=";
  const auto start = description.find(key);
  TORCH_CHECK(start != std::string::npos, "libtorch does not say its version");
  const auto first = start + key.size();
  return description.substr(first, description.find_first_of(", \n", first) - first);
}

std::string folder_of_library() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&at::get_num_threads), &found) == 0) return "unknown";
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::canonical(found.dli_fname, ignored);
  return ignored ? "unknown" : file.parent_path().string();
}

}  // namespace

TorchFacts torch_facts() {
  return {.version = loaded_version(),
          .threads = at::get_num_threads(),
          .capability = at::get_cpu_capability(),
          .folder = folder_of_library(),
          .matmul_ms = best_matmul_ms()};
}

}  // namespace cohort
