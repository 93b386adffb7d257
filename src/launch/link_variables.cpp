#include "launch/link_variables.h"

#include <fmt/format.h>

namespace cohort::launch {
namespace {

const std::string kEngine = "COHORT_ENGINE";
const std::string kAlgorithm = "COHORT_ALGORITHM";

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

}  // namespace

Result<LinkSettings> read_link_settings(const VariableReader& variables) {
  LinkSettings settings;
  COHORT_ASSIGN_OR_RETURN(settings.engine, read_engine(variables));
  settings.algorithm = said(variables, kAlgorithm);
  return settings;
}

EnvironmentVariables link_variables(const LinkSettings& settings) {
  EnvironmentVariables variables;
  if (settings.engine) variables[kEngine] = name(*settings.engine);
  if (settings.algorithm) variables[kAlgorithm] = *settings.algorithm;
  return variables;
}

}  // namespace cohort::launch
