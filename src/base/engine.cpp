#include <cohort/link_settings.h>

#include <array>
#include <cstddef>

namespace cohort {
namespace {

constexpr std::array<std::string_view, std::size(kAllEngines)> kNames = {"auto", "tcp", "ucx", "mpi"};

}  // namespace

std::string_view name(Engine engine) {
  return kNames[static_cast<std::size_t>(engine)];
}

std::optional<Engine> engine_named(std::string_view name) {
  for (const Engine engine : kAllEngines) {
    if (cohort::name(engine) == name) return engine;
  }
  return std::nullopt;
}

}  // namespace cohort
