#include <cohort/link_settings.h>

#include <array>
#include <cstddef>

namespace cohort {
namespace {

constexpr std::array<std::string_view, std::size(kAllBackends)> kBackendNames = {"auto", "tcp", "ucx", "mpi"};

}  // namespace

std::string_view name(Backend backend) {
  return kBackendNames[static_cast<std::size_t>(backend)];
}

std::optional<Backend> backend_named(std::string_view name) {
  for (const Backend backend : kAllBackends) {
    if (cohort::name(backend) == name) return backend;
  }
  return std::nullopt;
}

}  // namespace cohort
