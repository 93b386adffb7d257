#include "launch/link_variables.h"

#include "base/units.h"

#include <fmt/format.h>

namespace cohort::launch {
namespace {

const std::string kEngine = "COHORT_ENGINE";
const std::string kAlgorithm = "COHORT_ALGORITHM";
const std::string kChunk = "COHORT_CHUNK";
const std::string kWire = "COHORT_WIRE";
const std::string kSockets = "COHORT_SOCKETS";
const std::string kExplain = "COHORT_EXPLAIN";

std::string engine_names() {
  std::string names;
  for (const Engine engine : kAllEngines) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(engine));
  }
  return names;
}

std::optional<std::string> said(const VariableReader& variables, const std::string& name) {
  const auto text = variables.text(name);
  return text && !text->empty() ? text : std::nullopt;
}

Result<std::optional<Engine>> read_engine(const VariableReader& variables) {
  const auto text = said(variables, kEngine);
  if (!text) return std::optional<Engine>();
  if (const auto engine = engine_named(*text)) return engine;
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is no engine", quoted(kEngine, *text)))
      .with_remedy(fmt::format("Set it to one of {}, or unset it.", engine_names()));
}

Result<std::optional<std::uint64_t>> read_chunk(const VariableReader& variables) {
  const auto text = said(variables, kChunk);
  if (!text) return std::optional<std::uint64_t>();
  const auto bytes = parse_bytes(*text);
  if (bytes) return std::optional<std::uint64_t>(*bytes);
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, which is no size", quoted(kChunk, *text)))
      .with_remedy("Set it to a size such as 256KiB, or unset it.");
}

Result<std::optional<bool>> read_explain(const VariableReader& variables) {
  const auto text = said(variables, kExplain);
  if (!text) return std::optional<bool>();
  if (*text == "on" || *text == "off") return std::optional<bool>(*text == "on");
  return Error(ErrorCode::kUsage, fmt::format("the environment has {}", quoted(kExplain, *text)))
      .with_remedy("Set it to on or off, or unset it.");
}

}  // namespace

Result<LinkSettings> read_link_settings(const VariableReader& variables) {
  LinkSettings settings;
  COHORT_ASSIGN_OR_RETURN(settings.engine, read_engine(variables));
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
  if (settings.engine) variables[kEngine] = name(*settings.engine);
  if (settings.algorithm) variables[kAlgorithm] = *settings.algorithm;
  if (settings.chunk_bytes) variables[kChunk] = std::to_string(*settings.chunk_bytes);
  if (settings.wire) variables[kWire] = *settings.wire;
  if (settings.sockets) variables[kSockets] = std::to_string(*settings.sockets);
  if (settings.explain) variables[kExplain] = *settings.explain ? "on" : "off";
  return variables;
}

}  // namespace cohort::launch
