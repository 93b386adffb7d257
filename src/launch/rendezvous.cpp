#include "launch/variables.h"

#include "base/checksum.h"
#include "base/system_error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <sys/random.h>

namespace cohort::launch {
namespace {

// A text that identifies this job among all jobs of this host; empty if the launcher exports no such thing.
std::optional<std::string> job_identity(const VariableReader& variables, Launcher launcher) {
  const auto joined = [&](std::initializer_list<const char*> names) {
    std::string text;
    for (const char* name : names) text += "-" + variables.text(name).value_or("");
    return text;
  };
  if (launcher == Launcher::kTorchrun &&
      (variables.has("TORCHELASTIC_RUN_ID") || variables.has("MASTER_PORT"))) {
    return "torchrun" + joined({"TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"});
  }
  if (launcher == Launcher::kOpenMpi) {
    for (const char* name : {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}) {
      if (variables.has(name)) return "openmpi" + joined({name});
    }
  }
  if (launcher == Launcher::kSlurm && variables.has("SLURM_JOB_ID")) {
    return "slurm" + joined({"SLURM_JOB_ID", "SLURM_STEP_ID"});
  }
  return std::nullopt;
}

// An identity of letters and digits stays readable; a longer or stranger one is hashed.
std::string socket_name(const std::string& identity, uid_t user) {
  constexpr std::size_t kLongest = 48;
  std::string plain = fmt::format("cohort-{}-{}", user, identity);
  bool is_plain = plain.size() <= kLongest;
  for (const char letter : plain) {
    const auto code = static_cast<unsigned char>(letter);
    is_plain = is_plain && code < 128 && (std::isalnum(code) != 0 || letter == '-' || letter == '.');
  }
  if (is_plain) return plain;
  const auto bytes = std::as_bytes(std::span(plain));
  return fmt::format("cohort-{}-{:016x}{:016x}", user, content_hash(bytes, 1), content_hash(bytes, 2));
}

Error no_rendezvous(const std::string& given, const std::string& why) {
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, {}", quoted("COHORT_RENDEZVOUS", given), why))
      .with_remedy(
          "Give every rank of the job the same unix:NAME, file:DIRECTORY or rank0:HOST:PORT, or let `cohort "
          "run` set it.");
}

// The port follows the last colon; an IPv6 address stands in brackets.
Result<Rendezvous::Address> host_and_port(const std::string& given, std::string text) {
  const std::size_t colon = text.rfind(':');
  int port = 0;
  const char* last = text.data() + text.size();
  if (colon == std::string::npos || colon == 0) {
    return no_rendezvous(given, "which does not end with HOST:PORT");
  }
  const auto [end, failure] = std::from_chars(text.data() + colon + 1, last, port);
  if (failure != std::errc() || end != last || port < 1 || port > 65535) {
    return no_rendezvous(given, "whose port is not a number from 1 to 65535");
  }
  std::string host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return Rendezvous::Address{host, port};
}

Result<Rendezvous> parse_rendezvous(const std::string& given) {
  constexpr std::size_t kLongest =
      80;  // a socket name has at most 107 bytes, and suffixes are added to this one
  const std::size_t colon = given.find(':');
  const std::string kind = given.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : given.substr(colon + 1);
  Rendezvous rendezvous;
  if (kind == "unix" && !rest.empty() && rest.size() <= kLongest) {
    rendezvous.unix_name = rest;
  } else if (kind == "file" && !rest.empty()) {
    rendezvous.directory = rest;
  } else if (kind == "tcp") {
    for (std::size_t begin = 0; begin <= rest.size();) {
      const std::size_t end = std::min(rest.find(',', begin), rest.size());
      COHORT_ASSIGN_OR_RETURN(const auto address, host_and_port(given, rest.substr(begin, end - begin)));
      rendezvous.server.push_back(address);
      begin = end + 1;
    }
  } else if (kind == "rank0") {
    COHORT_ASSIGN_OR_RETURN(rendezvous.address, host_and_port(given, rest));
  } else {
    return no_rendezvous(given, fmt::format("which is not unix:NAME with a name of up to {} bytes, nor "
                                            "file:, tcp: or rank0: with an address",
                                            kLongest));
  }
  return rendezvous;
}

Result<std::optional<Rendezvous::Address>> read_address(const VariableReader& variables) {
  const auto host = variables.text("MASTER_ADDR");
  if (!host || !variables.has("MASTER_PORT")) return std::optional<Rendezvous::Address>();
  if (host->empty()) {
    return Error(ErrorCode::kUsage, "MASTER_ADDR='' in the environment, expected the host of rank 0")
        .with_remedy("Set MASTER_ADDR to the host of rank 0, or unset it.");
  }
  COHORT_ASSIGN_OR_RETURN(const int port, variables.number("MASTER_PORT", 1));
  if (port > 65535) {
    return Error(ErrorCode::kUsage,
                 fmt::format("the environment has MASTER_PORT={}, which is above 65535", port))
        .with_remedy("Set it to a port from 1 to 65535, or unset it.");
  }
  // torchrun's own store listens at MASTER_PORT.
  const bool is_taken = variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return std::optional<Rendezvous::Address>({*host, is_taken && port < 65535 ? port + 1 : port});
}

// The first host of the step, which runs its first task, and a port that another step is unlikely to have.
std::optional<Rendezvous::Address> slurm_address(const VariableReader& variables) {
  const auto nodes =
      variables.text(variables.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST");
  const auto host = nodes ? first_node(*nodes) : std::nullopt;
  const auto job = variables.text("SLURM_JOB_ID");
  if (!host || !job) return std::nullopt;
  const std::string step = fmt::format("{}.{}", *job, variables.text("SLURM_STEP_ID").value_or(""));
  constexpr std::uint64_t kFirstPort = 20000;
  constexpr std::uint64_t kNumPorts = 12000;  // ports below the range that the kernel assigns
  const auto port = kFirstPort + content_hash(std::as_bytes(std::span(step)), 1) % kNumPorts;
  return Rendezvous::Address{*host, static_cast<int>(port)};
}

}  // namespace

Status read_rendezvous(const VariableReader& variables, uid_t user, LaunchFacts& facts) {
  if (const auto given = variables.text("COHORT_RENDEZVOUS")) {
    COHORT_ASSIGN_OR_RETURN(facts.rendezvous, parse_rendezvous(*given));
  }
  Rendezvous& rendezvous = facts.rendezvous;
  const bool is_given = rendezvous != Rendezvous{};
  const auto identity = job_identity(variables, facts.launcher);
  if (!is_given && identity) rendezvous.unix_name = socket_name(*identity, user);
  if (is_given && !rendezvous.unix_name) return {};
  COHORT_ASSIGN_OR_RETURN(rendezvous.address, read_address(variables));
  if (!rendezvous.address && facts.launcher == Launcher::kSlurm) {
    rendezvous.address = slurm_address(variables);
  }
  return {};
}

Result<std::string> fresh_unix_name() {
  std::array<std::uint64_t, 2> bits{};
  const auto count = uninterrupted([&] { return ::getrandom(bits.data(), sizeof bits, 0); });
  if (count != static_cast<ssize_t>(sizeof bits)) {
    return system_error("cannot get random bits from the system", errno);
  }
  return fmt::format("cohort-{:016x}{:016x}", bits[0], bits[1]);
}

namespace {

// The directory; empty: no cache.
std::string link_cache(const VariableReader& variables) {
  const auto said = [&](const char* name) { return variables.text(name).value_or(""); };
  if (const std::string named = said("COHORT_LINK_CACHE"); !named.empty()) return named == "off" ? "" : named;
  if (const std::string caches = said("XDG_CACHE_HOME"); !caches.empty()) return caches + "/cohort";
  const std::string home = said("HOME");
  return home.empty() ? "" : home + "/.cache/cohort";
}

}  // namespace

Status read_links(const VariableReader& variables, LaunchFacts& facts) {
  COHORT_ASSIGN_OR_RETURN(facts.key.descriptor, variables.number_if_set("COHORT_KEY_FD", 0));
  facts.key.file = variables.text("COHORT_KEY_FILE");
  std::string names = variables.text("COHORT_INTERFACES").value_or("");
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    if (end > begin) facts.links.interfaces.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string encryption = variables.text("COHORT_ENCRYPTION").value_or("on");
  if (encryption != "on" && encryption != "off") {
    return Error(ErrorCode::kUsage, fmt::format("the environment has {}, which is neither on nor off",
                                                quoted("COHORT_ENCRYPTION", encryption)))
        .with_remedy(
            "Set it to on or off, or unset it; without it, connections between hosts are encrypted.");
  }
  facts.links.encrypts = encryption == "on";
  facts.links.cache = link_cache(variables);
  return {};
}

}  // namespace cohort::launch
