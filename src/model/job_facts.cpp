#include "model/job_facts.h"

#include "config/keys.h"
#include "config/load.h"
#include "config/sections.h"
#include "model/loss.h"

#include <fmt/format.h>

namespace cohort {
namespace {

constexpr std::string_view kSection = "model.";

// Keys that are not settings of the model: `kind` is a fact of its own, and `initial` is where it came from.
bool is_setting(const config::Key& key) {
  return key.name.starts_with(kSection) && key.name != "model.kind" && key.name != "model.initial";
}

// A value of a job file in the form of ModelFacts: `relu` for `"relu"`, `[128,64]` for `[128, 64]`.
std::string plain_value(std::string value) {
  if (value.starts_with('"')) return value.substr(1, value.size() - 2);
  std::erase(value, ' ');
  return value;
}

std::map<std::string, std::string> settings_of(const ModelConfig& config) {
  Config whole;
  whole.model = config;
  std::map<std::string, std::string> settings;
  for (const config::Key& key : config::model_keys()) {
    if (is_setting(key)) settings[key.name.substr(kSection.size())] = plain_value(key.show(whole));
  }
  return settings;
}

std::vector<std::string> class_names(const OpenedData& data) {
  if (data.facts.classes > 0 && !data.vocabulary.empty()) return data.vocabulary;
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < data.facts.classes; ++i) names.push_back(std::to_string(i));
  return names;
}

Result<ModelConfig> config_of(const ModelFacts& facts) {
  const auto keys = config::model_keys();
  Config config = config::default_config(keys);
  config.model.kind = facts.kind;
  for (const auto& [name, value] : facts.settings) {
    const config::Key* key = config::find_key(keys, std::string(kSection) + name);
    if (key == nullptr || !is_setting(*key)) {
      return Error(ErrorCode::kUsage, fmt::format("there is no setting '{}' of models", name));
    }
    COHORT_ASSIGN_OR_RETURN(const config::Entry entry, config::parse_override(key->name + "=" + value));
    COHORT_RETURN_IF_ERROR(key->read(entry.value, config).within(fmt::format("{} = {}", key->name, value)));
  }
  return config.model;
}

// The properties of the data that the model was built for.
DataFacts data_facts(const ModelFacts& facts) {
  const bool is_text = !facts.vocabulary.empty();
  return {.input_shape = facts.input_shape,
          .input_dtype = is_text ? DType::kI64 : DType::kF32,
          .classes = static_cast<std::int64_t>(facts.classes.size()),
          .outputs = facts.outputs,
          .vocabulary = static_cast<std::int64_t>(facts.vocabulary.size()),
          .context = facts.context};
}

}  // namespace

ModelFacts facts_of(const ModelConfig& config, const OpenedData& data) {
  const SourceFacts& source = data.source;
  ModelFacts facts{.kind = config.kind,
                   .settings = settings_of(config),
                   .input_shape = data.facts.input_shape,
                   .features = source.features,
                   .white = source.white,
                   .context = data.facts.context,
                   .tokens = source.tokens,
                   .target = source.target,
                   .classes = class_names(data),
                   .outputs = data.facts.outputs,
                   .loss = std::string(name(loss_of(config, data.facts)))};
  for (const data::Scale& scale : source.scales) {
    facts.mean.push_back(scale.mean);
    facts.deviation.push_back(scale.deviation);
  }
  if (data.facts.vocabulary > 0) facts.vocabulary = data.vocabulary;
  return facts;
}

Result<std::shared_ptr<Model>> make_model(const ModelFacts& facts) {
  constexpr std::uint64_t kAnySeed = 1;
  COHORT_ASSIGN_OR_RETURN(const ModelConfig config, config_of(facts));
  return make_model(config, data_facts(facts), kAnySeed);
}

}  // namespace cohort
