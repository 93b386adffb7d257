#include "doctor/doctor_output.h"

namespace cohort::tool {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const machine::Space& space) {
  return {{"total_bytes", space.total_bytes}, {"free_bytes", space.free_bytes}};
}

Json value_json(const machine::Works&) {
  return true;
}

Json value_json(const machine::Limit& limit) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? Json(*value) : Json("unlimited");
  };
  return {{"soft", number(limit.soft)}, {"hard", number(limit.hard)}};
}

Json value_json(machine::Overcommit mode) {
  return static_cast<int>(mode);
}

Json value_json(const machine::Mpi& mpi) {
  return {{"vendor", name(mpi.vendor)}, {"version", mpi.version}};
}

Json value_json(const machine::Libtorch& torch) {
  return {{"version", torch.version}, {"threads", torch.threads},     {"capability", torch.capability},
          {"folder", torch.folder},   {"matmul_ms", torch.matmul_ms}, {"load_ms", torch.load_ms}};
}

Json value_json(const machine::Interface& interface) {
  Json object{{"name", interface.name},
              {"up", interface.up},
              {"loopback", interface.loopback},
              {"ipv4", interface.ipv4},
              {"ipv6", interface.ipv6}};
  if (interface.mtu_bytes) object["mtu_bytes"] = *interface.mtu_bytes;
  if (interface.speed_mbit) object["speed_mbit"] = *interface.speed_mbit;
  return object;
}

Json value_json(const std::vector<machine::Interface>& interfaces) {
  Json list = Json::array();
  for (const machine::Interface& interface : interfaces) list.push_back(value_json(interface));
  return list;
}

template <class T>
Json value_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T>
Json value_json(const T& value) {
  return value;
}

template <class T>
Json fact_json(const machine::Fact<T>& fact) {
  if (!fact) return {{"unknown", fact.error().text()}};
  return value_json(*fact);
}

}  // namespace

Json to_json(const machine::Survey& survey) {
  const auto& [system, cores, memory, shared, limits, interfaces, threads, libtorch, mpi, disk] = survey;
  return {{"system", {{"name", fact_json(system.name)}, {"kernel", fact_json(system.kernel_release)}}},
          {"cores",
           {{"online", fact_json(cores.online)},
            {"allowed", fact_json(cores.allowed)},
            {"quota", fact_json(cores.quota)},
            {"model", fact_json(cores.model)},
            {"instruction_sets", fact_json(cores.instruction_sets)},
            {"threads_per_core", fact_json(cores.threads_per_core)},
            {"numa_nodes", fact_json(cores.numa_nodes)}}},
          {"memory",
           {{"total_bytes", fact_json(memory.total_bytes)},
            {"available_bytes", fact_json(memory.available_bytes)},
            {"swap_total_bytes", fact_json(memory.swap_total_bytes)},
            {"swap_free_bytes", fact_json(memory.swap_free_bytes)},
            {"limit_bytes", fact_json(memory.limit_bytes)}}},
          {"shared_memory",
           {{"memfd", fact_json(shared.memfd)},
            {"dev_shm", fact_json(shared.dev_shm)},
            {"overcommit", fact_json(shared.overcommit)},
            {"huge_pages", fact_json(shared.huge_pages)}}},
          {"limits",
           {{"open_files", fact_json(limits.open_files)},
            {"processes", fact_json(limits.processes)},
            {"locked_memory_bytes", fact_json(limits.locked_memory_bytes)},
            {"core_file_bytes", fact_json(limits.core_file_bytes)}}},
          {"interfaces", fact_json(interfaces)},
          {"thread_settings", threads},
          {"libtorch", libtorch ? fact_json(*libtorch) : Json(nullptr)},
          {"mpi", fact_json(mpi)},
          {"disk", fact_json(disk)}};
}

}  // namespace cohort::tool
