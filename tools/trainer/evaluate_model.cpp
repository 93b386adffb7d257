#include "config/keys.h"
#include "config/load.h"
#include "data/open.h"
#include "job/model_data.h"
#include "observe/amounts.h"
#include "observe/json_text.h"
#include "observe/table.h"
#include "storage/local_file_system.h"
#include "use_model.h"

#include <filesystem>
#include <fmt/format.h>
#include <iostream>

namespace cohort::tool {
namespace {

using job::DataScore;

/// Data to evaluate on.
struct Examined {
  std::shared_ptr<FileSystem> files =
      std::make_shared<LocalFileSystem>();  // before the data, which reads from it
  OpenedData opened{};
  std::shared_ptr<const Dataset> data{};
};

std::string data_kind(const ModelFacts& facts) {
  if (!facts.vocabulary.empty()) return "text";
  return facts.input_shape.size() > 1 ? "idx" : "csv";
}

// The settings with which a file is opened whole, as data of the kind that the model was trained on. Settings
// of the command line win.
DataConfig config_for(const ModelFacts& facts, const std::string& path, const JobOrder& job) {
  std::vector<std::string> settings{fmt::format("model.kind={}", facts.kind),
                                    fmt::format("data.kind={}", data_kind(facts)),
                                    fmt::format("data.path={}", path)};
  settings.insert(settings.end(), job.overrides.begin(), job.overrides.end());
  const auto keys = config::make_keys();
  const config::Loaded loaded =
      value_or_throw(config::load(keys, {.text = {},
                                         .file_name = {},
                                         .overrides = settings,
                                         .working_directory = std::filesystem::current_path().string()}));
  DataConfig config = loaded.config.data;
  const auto is_given = [&](const char* key) { return loaded.locations.contains(key); };
  if (!is_given("data.test_share")) config.test_share = 0.0;
  if (!is_given("data.target_column")) config.target_column = facts.target;
  if (!is_given("data.target")) config.target = facts.classes.empty() ? "number" : "class";
  if (!is_given("data.context") && facts.context > 0) config.context = static_cast<int>(facts.context);
  if (!is_given("data.tokens") && !facts.tokens.empty()) config.tokens = facts.tokens;
  return config;
}

Examined open_file(const ModelFacts& facts, const std::string& path, const JobOrder& job) {
  Examined examined;
  examined.opened = value_or_throw(open_data(*examined.files, config_for(facts, path, job), 1));
  examined.data = examined.opened.train;
  return examined;
}

Examined open_job(const EvaluateOrder& order, JobOrder job) {
  job.file = order.data;
  const Config config = load_job(job).config;
  Examined examined;
  examined.opened = value_or_throw(open_data(*examined.files, config.data, config.train.seed));
  examined.data = order.part == "train" ? examined.opened.train : examined.opened.test;
  if (examined.data == nullptr) {
    throw UsageError(UsageError(fmt::format("the job '{}' has no test data", order.data))
                         .with_remedy("Add `--part train` to evaluate on its training data."));
  }
  return examined;
}

std::string score_table(const DataScore& score, const EvaluateOrder& order, const JobOrder& job) {
  observe::Table table({"model", order.model});
  const auto row = [&](const std::string& what, const std::string& value) {
    table.add({{what, observe::Colour::kBold}, {value}});
  };
  row("data", order.data);
  row("samples", std::to_string(score.samples));
  row("loss", observe::format_number(score.loss));
  if (score.accuracy) row("accuracy", observe::format_number(*score.accuracy));
  return table.text(screen_of(job));
}

std::string score_json(const DataScore& score, const EvaluateOrder& order, const ModelFacts& facts) {
  nlohmann::ordered_json object{{"model", order.model},     {"kind", facts.kind},      {"data", order.data},
                                {"samples", score.samples}, {"loss_kind", facts.loss}, {"loss", score.loss}};
  if (score.accuracy) object["accuracy"] = *score.accuracy;
  return observe::json_text(object);
}

}  // namespace

void evaluate_model(const EvaluateOrder& order, const JobOrder& job) {
  const LoadedModel model = load_model(order.model);
  const bool is_job = order.data.ends_with(".toml");
  const Examined examined = is_job ? open_job(order, job) : open_file(model.facts, order.data, job);
  const auto data = value_or_throw(job::fitted(examined.data, examined.opened, model.facts, order.data));
  const DataScore score = job::evaluate_on(model, *data);
  std::cout << (job.json ? score_json(score, order, model.facts) : score_table(score, order, job))
            << std::flush;
}

}  // namespace cohort::tool
