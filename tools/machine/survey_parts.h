#pragma once

#include "machine/sources.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Parts of a Survey that are a few facts each.

struct ifaddrs;

namespace cohort::machine {

/// The operating system.
struct System {
  Fact<std::string> name;            ///< such as `Debian GNU/Linux 12 (bookworm)`
  Fact<std::string> kernel_release;  ///< such as `6.1.0-18-amd64`
};

/// PRETTY_NAME, or else NAME, from the text of /etc/os-release, without quotes.
Result<std::string> parse_os_name(std::string_view text);

System survey_system(const ReadText& read);

/// The memory, and the part of it that this process may use.
struct Memory {
  Fact<std::uint64_t> total_bytes;
  Fact<std::uint64_t> available_bytes;  ///< without swapping
  Fact<std::uint64_t> swap_total_bytes;
  Fact<std::uint64_t> swap_free_bytes;
  Fact<std::optional<std::uint64_t>> limit_bytes;  ///< memory limit of the control group; empty: no limit
};

/// The memory that a job may use now: the available memory (or else the total), at most the limit. Empty if
/// neither is known.
std::optional<std::uint64_t> usable_bytes(const Memory& memory);

/// The bytes of one line of /proc/meminfo, such as `MemTotal:  24682416 kB`.
Result<std::uint64_t> parse_memory_line(std::string_view meminfo, std::string_view key);

Memory survey_memory(const ReadText& read);

/// A resource limit of this process; empty members mean unlimited.
struct Limit {
  std::optional<std::uint64_t> soft;  ///< the limit in force; the process itself may raise it up to `hard`
  std::optional<std::uint64_t> hard;
};

/// Resource limits of this process; its ranks inherit them.
struct Limits {
  Fact<Limit> open_files;
  Fact<Limit> processes;  ///< processes and threads of this user
  Fact<Limit> locked_memory_bytes;
  Fact<Limit> core_file_bytes;
};

Limits survey_limits();

/// The variables of an environment that control threads and memory of numerical code: thread counts, wait
/// policy, and all that begin with KMP_ or MALLOC_.
Environment thread_settings(const Environment& environment);

/// A network interface.
struct Interface {
  std::string name{};
  bool up = false;  ///< switched on, with a carrier
  bool loopback = false;
  std::vector<std::string> ipv4{};
  std::vector<std::string> ipv6{};
  std::optional<int> mtu_bytes{};
  std::optional<int> speed_mbit{};  ///< Mbit per second; empty for virtual interfaces
};

/// The interfaces of a list by getifaddrs, each once, in the order of the list; without MTU and speed.
std::vector<Interface> interfaces_in(const ifaddrs* list);

Fact<std::vector<Interface>> survey_network(const ReadText& read);

enum class MpiVendor { kOpenMpi, kMpich, kIntel };

/// The name: `Open MPI`, `MPICH`, `Intel MPI`.
std::string_view name(MpiVendor vendor);

/// The MPI whose mpirun comes first in PATH.
struct Mpi {
  MpiVendor vendor = MpiVendor::kOpenMpi;
  std::string version;
};

/// Parses the output of `mpirun --version`.
Result<Mpi> parse_mpi_version(std::string_view text);

/// Failure: kNotFound if there is no mpirun in PATH.
Fact<Mpi> survey_mpi(const RunProgram& run, std::chrono::nanoseconds limit);

}  // namespace cohort::machine
