#include "state/model_facts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cohort::state {
namespace {

using FactsJson = nlohmann::ordered_json;

constexpr int kFactsVersion = 1;
constexpr std::string_view kPrefix = "cohort.";
constexpr const char* kVersionKey = "cohort.version";
constexpr const char* kModelKey = "cohort.model";
constexpr const char* kInputKey = "cohort.input";
constexpr const char* kOutputKey = "cohort.output";
constexpr const char* kVocabularyKey = "cohort.vocabulary";

// A value that is written in JSON the way JSON libraries write it, such as 0.1, true or [128,64], stands as
// it is; any other value is a JSON text. Either way the same value is read again.
FactsJson setting_json(const std::string& value) {
  const FactsJson parsed = FactsJson::parse(value, nullptr, /*allow_exceptions=*/false);
  const bool stands = !parsed.is_discarded() && !parsed.is_string() && parsed.dump() == value;
  return stands ? parsed : FactsJson(value);
}

FactsJson model_json(const ModelFacts& facts) {
  FactsJson settings = FactsJson::object();
  for (const auto& [name, value] : facts.settings) settings[name] = setting_json(value);
  return {{"kind", facts.kind}, {"settings", settings}};
}

FactsJson input_json(const ModelFacts& facts) {
  FactsJson json{{"shape", facts.input_shape},
                 {"features", facts.features},
                 {"mean", facts.mean},
                 {"deviation", facts.deviation}};
  if (facts.white) json["white"] = *facts.white;
  if (facts.context > 0) json["context"] = facts.context;
  return json;
}

FactsJson output_json(const ModelFacts& facts) {
  return {
      {"loss", facts.loss}, {"target", facts.target}, {"classes", facts.classes}, {"outputs", facts.outputs}};
}

FactsJson vocabulary_json(const ModelFacts& facts) {
  return {{"tokens", facts.tokens}, {"texts", facts.vocabulary}};
}

// Sets `into` to a member of the object; a member that is not there leaves it unchanged.
template <class T>
void read(const FactsJson& object, const char* name, T& into) {
  const auto found = object.find(name);
  if (found != object.end()) into = found->get<T>();
}

void read_model(const FactsJson& json, ModelFacts& facts) {
  read(json, "kind", facts.kind);
  const auto settings = json.find("settings");
  if (settings == json.end()) return;
  for (const auto& [name, value] : settings->items()) {
    facts.settings[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
}

void read_input(const FactsJson& json, ModelFacts& facts) {
  read(json, "shape", facts.input_shape);
  read(json, "features", facts.features);
  read(json, "mean", facts.mean);
  read(json, "deviation", facts.deviation);
  read(json, "context", facts.context);
  if (json.contains("white")) facts.white = json.at("white").get<double>();
}

void read_output(const FactsJson& json, ModelFacts& facts) {
  read(json, "loss", facts.loss);
  read(json, "target", facts.target);
  read(json, "classes", facts.classes);
  read(json, "outputs", facts.outputs);
}

void read_vocabulary(const FactsJson& json, ModelFacts& facts) {
  read(json, "tokens", facts.tokens);
  read(json, "texts", facts.vocabulary);
}

struct Part {
  const char* key;
  FactsJson (*write)(const ModelFacts&);
  void (*read)(const FactsJson&, ModelFacts&);
};
constexpr Part kParts[] = {{kModelKey, model_json, read_model},
                           {kInputKey, input_json, read_input},
                           {kOutputKey, output_json, read_output},
                           {kVocabularyKey, vocabulary_json, read_vocabulary}};

// The reason why facts contradict each other; empty if they do not.
std::string contradiction(const ModelFacts& facts) {
  const auto is_positive = [](std::int64_t size) { return size > 0; };
  if (!std::all_of(facts.input_shape.begin(), facts.input_shape.end(), is_positive)) {
    return "a dimension of the input shape is not positive";
  }
  const std::size_t first =
      facts.input_shape.empty() ? 0 : static_cast<std::size_t>(facts.input_shape.front());
  const std::size_t scales = facts.mean.size();
  if (scales != facts.deviation.size() || (scales > 1 && scales != first)) {
    return fmt::format("there are {} means and {} deviations for inputs whose first dimension is {}", scales,
                       facts.deviation.size(), first);
  }
  for (std::size_t i = 0; i < scales; ++i) {
    if (std::isfinite(facts.mean[i]) && std::isfinite(facts.deviation[i]) && facts.deviation[i] > 0) continue;
    return fmt::format("mean {} is {} with a deviation of {}", i, facts.mean[i], facts.deviation[i]);
  }
  if (!facts.features.empty() && facts.features.size() != first) {
    return fmt::format("there are {} names for {} features", facts.features.size(), first);
  }
  if (facts.white && !(*facts.white > 0)) return fmt::format("a white pixel is {}", *facts.white);
  if (facts.context < 0 || facts.outputs < 0) return "a number of tokens or outputs is negative";
  return {};
}

Error corrupt_fact(const std::string& key, const std::string& reason) {
  return Error(ErrorCode::kCorrupt, fmt::format("its '{}' is not of the documented form: {}", key, reason));
}

Status check_version(const std::map<std::string, std::string>& metadata) {
  const auto version = metadata.find(kVersionKey);
  if (version == metadata.end()) {
    return Error(ErrorCode::kUsage, "it has parameters only, and nothing that tells how to use them")
        .with_remedy("Name a file of `cohort train`, of cohort::Trainer or of cohort::save_model().");
  }
  if (version->second == std::to_string(kFactsVersion)) return {};
  return Error(ErrorCode::kUnsupported, fmt::format("its format has version '{}'; this program reads {}",
                                                    version->second, kFactsVersion))
      .with_remedy("Use the version of Cohort that wrote the file, or a later one.");
}

}  // namespace

Result<std::map<std::string, std::string>> metadata_of(const ModelFacts& facts) {
  if (const std::string why = contradiction(facts); !why.empty()) {
    return Error(ErrorCode::kUsage, fmt::format("the facts of the model contradict each other: {}", why));
  }
  std::map<std::string, std::string> metadata = facts.others;
  for (const auto& [key, text] : facts.others) {
    if (key.starts_with(kPrefix)) {
      return Error(ErrorCode::kUsage, fmt::format("'{}' cannot be among the other texts of a model: keys "
                                                  "that begin with '{}' are taken",
                                                  key, kPrefix));
    }
  }
  metadata[kVersionKey] = std::to_string(kFactsVersion);
  try {
    (void)FactsJson(facts.others).dump();
    for (const Part& part : kParts) {
      const bool is_empty = part.key == kVocabularyKey && facts.vocabulary.empty();
      if (!is_empty) metadata[part.key] = part.write(facts).dump();
    }
  } catch (const FactsJson::exception&) {
    return Error(ErrorCode::kUsage, "a text among the facts of the model is not UTF-8");
  }
  return metadata;
}

Result<ModelFacts> facts_in(const std::map<std::string, std::string>& metadata) {
  COHORT_RETURN_IF_ERROR(check_version(metadata));
  ModelFacts facts;
  for (const auto& [key, text] : metadata) {
    if (!key.starts_with(kPrefix)) facts.others.emplace(key, text);
  }
  for (const Part& part : kParts) {
    const auto found = metadata.find(part.key);
    if (found == metadata.end()) continue;
    try {
      const FactsJson json = FactsJson::parse(found->second);
      if (!json.is_object()) return corrupt_fact(part.key, "it is no JSON object");
      part.read(json, facts);
    } catch (const FactsJson::exception& error) {
      return corrupt_fact(part.key, error.what());
    }
  }
  if (const std::string why = contradiction(facts); !why.empty()) return corrupt_fact(kInputKey, why);
  return facts;
}

}  // namespace cohort::state
