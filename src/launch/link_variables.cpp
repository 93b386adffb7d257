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

std::string backend_names() {
  std::string names;
  for (const Backend backend : kAllBackends) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(backend));
  }
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
      .with_remedy(fmt::format("Set it to one of {}, or unset it.", backend_names()));
}

Result<std::optional<std::uint64_t>> read_chunk(const VariableReader& variables) {
  const auto text = said(variables, kChunk);
  if (!text) return std::optional<std::uint64_t>();
  const auto bytes = parse_bytes(*text);
  if (bytes) return std::optional<std::uint64_t>(*bytes);
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is not a size", quoted(kChunk, *text)))
      .with_remedy("Set it to a size such as 256KiB, or unset it.");
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
  settings.algorithm = said(variables, kAlgorithm);
  COHORT_ASSIGN_OR_RETURN(settings.chunk_bytes, read_chunk(variables));
  settings.wire = said(variables, kWire);
  if (said(variables, kSockets)) {
    COHORT_ASSIGN_OR_RETURN(settings.sockets, variables.number_if_set(kSockets, 0));
  }
  COHORT_ASSIGN_OR_RETURN(settings.explain, read_explain(variables));
  return settings;
}

EnvironmentVariables link_variables(const LinkSettings& settings) {
  EnvironmentVariables variables;
  if (settings.backend) variables[kBackend] = name(*settings.backend);
  if (settings.algorithm) variables[kAlgorithm] = *settings.algorithm;
  if (settings.chunk_bytes) variables[kChunk] = std::to_string(*settings.chunk_bytes);
  if (settings.wire) variables[kWire] = *settings.wire;
  if (settings.sockets) variables[kSockets] = std::to_string(*settings.sockets);
  if (settings.explain) variables[kExplain] = *settings.explain ? "on" : "off";
  return variables;
}

}  // namespace cohort::launch
