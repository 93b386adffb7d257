#include "launch/variables.h"

#include "base/units.h"

#include <fmt/format.h>

namespace cohort::launch {
namespace {

const std::string kBackend = "COHORT_BACKEND";
const std::string kAlgorithm = "COHORT_ALGORITHM";
const std::string kChunk = "COHORT_CHUNK";
const std::string kWire = "COHORT_WIRE";
const std::string kSockets = "COHORT_SOCKETS";
const std::string kExplain = "COHORT_EXPLAIN";

// The value of an algorithm, chunk or number of sockets that Cohort chooses.
const std::string kChosen = "auto";

template <class Enumerators>
std::string names_of(const Enumerators& enumerators) {
  std::string names;
  for (const auto each : enumerators) names += fmt::format("{}{}", names.empty() ? "" : ", ", name(each));
  return names;
}

std::optional<std::string> said(const VariableReader& variables, const std::string& name) {
  const auto text = variables.text(name);
  return text && !text->empty() ? text : std::nullopt;
}

Status refuse_old_name(const VariableReader& variables) {
  const std::string old = "COHORT_ENGINE";
  const auto text = said(variables, old);
  if (!text) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, a name that is no longer read", quoted(old, *text)))
      .with_remedy(fmt::format("It is called {}: set that, and unset {}.", kBackend, old));
}

Result<std::optional<Backend>> read_backend(const VariableReader& variables) {
  COHORT_RETURN_IF_ERROR(refuse_old_name(variables));
  const auto text = said(variables, kBackend);
  if (!text) return std::optional<Backend>();
  if (const auto backend = backend_named(*text)) return backend;
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is no backend", quoted(kBackend, *text)))
      .with_remedy(fmt::format("Set it to one of {}, or unset it.", names_of(kAllBackends)));
}

Result<std::optional<CollectiveAlgorithm>> read_algorithm(const VariableReader& variables) {
  const auto text = said(variables, kAlgorithm);
  if (!text || *text == kChosen) return std::optional<CollectiveAlgorithm>();
  if (const auto algorithm = collective_algorithm_named(*text)) return algorithm;
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is no algorithm", quoted(kAlgorithm, *text)))
      .with_remedy(
          fmt::format("Set it to auto or one of {}, or unset it.", names_of(kAllCollectiveAlgorithms)));
}

Result<std::optional<WireDType>> read_wire(const VariableReader& variables) {
  const auto text = said(variables, kWire);
  if (!text) return std::optional<WireDType>();
  if (const auto wire = wire_dtype_named(*text)) return wire;
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is no wire type", quoted(kWire, *text)))
      .with_remedy(fmt::format("Set it to one of {}, or unset it.", names_of(kAllWireDTypes)));
}

Result<std::optional<std::uint64_t>> read_chunk(const VariableReader& variables) {
  const auto text = said(variables, kChunk);
  if (!text || *text == kChosen) return std::optional<std::uint64_t>();
  const auto bytes = parse_bytes(*text);
  if (bytes && *bytes >= LinkSettings::kLeastChunkBytes) return std::optional<std::uint64_t>(*bytes);
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is not a size of {} or more", quoted(kChunk, *text),
                           format_bytes(LinkSettings::kLeastChunkBytes)))
      .with_remedy("Set it to a size such as 256KiB, or to auto for the fastest, or unset it.");
}

Result<std::optional<int>> read_sockets(const VariableReader& variables) {
  const auto text = said(variables, kSockets);
  if (!text || *text == kChosen) return std::optional<int>();
  const auto number = variables.number(kSockets, 1);
  if (number && *number <= LinkSettings::kMostSockets) return std::optional<int>(*number);
  return Error(ErrorCode::kUsage, fmt::format("the environment has {}, which is not a number from 1 to {}",
                                              quoted(kSockets, *text), LinkSettings::kMostSockets))
      .with_remedy("Set it to a number of TCP connections, or to auto for the faster number, or unset it.");
}

Result<std::optional<bool>> read_explain(const VariableReader& variables) {
  const auto text = said(variables, kExplain);
  if (!text) return std::optional<bool>();
  if (*text == "on" || *text == "off") return std::optional<bool>(*text == "on");
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is neither on nor off", quoted(kExplain, *text)))
      .with_remedy("Set it to on or off, or unset it.");
}

}  // namespace

Result<LinkSettings> read_link_settings(const VariableReader& variables) {
  LinkSettings settings;
  COHORT_ASSIGN_OR_RETURN(settings.backend, read_backend(variables));
  COHORT_ASSIGN_OR_RETURN(settings.algorithm, read_algorithm(variables));
  COHORT_ASSIGN_OR_RETURN(settings.chunk_bytes, read_chunk(variables));
  COHORT_ASSIGN_OR_RETURN(settings.wire, read_wire(variables));
  COHORT_ASSIGN_OR_RETURN(settings.sockets, read_sockets(variables));
  COHORT_ASSIGN_OR_RETURN(settings.explain, read_explain(variables));
  return settings;
}

EnvironmentVariables link_variables(const LinkSettings& settings) {
  EnvironmentVariables variables;
  if (settings.backend) variables[kBackend] = name(*settings.backend);
  variables[kAlgorithm] = settings.algorithm ? name(*settings.algorithm) : kChosen;
  variables[kChunk] = settings.chunk_bytes ? std::to_string(*settings.chunk_bytes) : kChosen;
  if (settings.wire) variables[kWire] = name(*settings.wire);
  variables[kSockets] = settings.sockets ? std::to_string(*settings.sockets) : kChosen;
  if (settings.explain) variables[kExplain] = *settings.explain ? "on" : "off";
  return variables;
}

}  // namespace cohort::launch
