#include "data/openers.h"
#include "data/records_in_memory.h"
#include "data/standardise.h"
#include "records/csv_table.h"

#include <algorithm>
#include <cmath>
#include <cohort/views.h>
#include <fmt/format.h>
#include <limits>

namespace cohort::data {
namespace {

using records::CsvTable;

// Texts are classes. Numbers are classes if all are integers below data.classes; otherwise they are
// predicted.
std::int64_t num_classes(const CsvTable& table, const DataConfig& config) {
  if (!table.class_names.empty()) return static_cast<std::int64_t>(table.class_names.size());
  float highest = 0;
  for (float target : table.targets) {
    if (target < 0 || target >= static_cast<float>(config.classes) || target != std::floor(target)) return 0;
    highest = std::max(highest, target);
  }
  return static_cast<std::int64_t>(highest) + 1;
}

// Appends the rows of the test file, so that both files have the same classes and the same scale of columns.
Status append(CsvTable& table, const CsvTable& more, const DataConfig& config) {
  if (more.feature_names != table.feature_names || more.target_name != table.target_name) {
    return Error(ErrorCode::kUsage,
                 fmt::format("'{}' has other columns than '{}'", config.test_path, config.path))
        .with_remedy("Give both files the same header.");
  }
  if (more.class_names.empty() != table.class_names.empty()) {
    return Error(ErrorCode::kUsage,
                 fmt::format("the target '{}' is text in one of '{}' and '{}', and numbers in the other",
                             table.target_name, config.path, config.test_path));
  }
  std::vector<float> class_of(more.class_names.size());
  for (std::size_t i = 0; i < class_of.size(); ++i) {
    const auto& names = table.class_names;
    const auto found = std::lower_bound(names.begin(), names.end(), more.class_names[i]);
    if (found == names.end() || *found != more.class_names[i]) {
      return Error(ErrorCode::kUsage, fmt::format("'{}' has the class '{}', which is not in '{}'",
                                                  config.test_path, more.class_names[i], config.path));
    }
    class_of[i] = static_cast<float>(found - names.begin());
  }
  table.features.insert(table.features.end(), more.features.begin(), more.features.end());
  for (float target : more.targets) {
    table.targets.push_back(class_of.empty() ? target : class_of[static_cast<std::size_t>(target)]);
  }
  return {};
}

// Each column gets mean 0 and deviation 1 over the training rows.
std::vector<Scale> standardise(CsvTable& table, std::size_t num_train) {
  const std::size_t columns = table.num_features();
  std::vector<Scale> scales;
  for (std::size_t column = 0; column < columns; ++column) {
    const auto trained = std::span<const float>(table.features).first(num_train * columns);
    const Scale scale = scale_of(trained.subspan(num_train > 0 ? column : 0), columns);
    for (std::size_t i = column; i < table.features.size(); i += columns) {
      table.features[i] = scale(table.features[i]);
    }
    scales.push_back(scale);
  }
  return scales;
}

DataFacts facts_of(const CsvTable& table, std::int64_t classes) {
  const auto features = static_cast<std::int64_t>(table.num_features());
  const std::string target = classes > 0 ? fmt::format("{} classes", classes) : "a number";
  return {
      .input_shape = {features},
      .classes = classes,
      .outputs = classes > 0 ? classes : 1,
      .description = fmt::format("rows of {} numbers, target '{}': {}", features, table.target_name, target)};
}

}  // namespace

Result<OpenedData> open_csv(FileSystem& fs, const DataConfig& config) {
  const records::CsvOptions options{config.target_column};
  COHORT_ASSIGN_OR_RETURN(CsvTable table, records::read_csv(fs, config.path, options));
  const auto num_rows = static_cast<std::int64_t>(table.num_rows());
  std::int64_t num_train = num_rows;
  if (config.test_path.empty()) {
    COHORT_ASSIGN_OR_RETURN(const std::int64_t num_test, test_count(config, num_rows));
    num_train -= num_test;
  } else {
    COHORT_ASSIGN_OR_RETURN(const CsvTable test, records::read_csv(fs, config.test_path, options));
    COHORT_RETURN_IF_ERROR(append(table, test, config));
  }
  OpenedData opened;
  if (config.normalise) opened.source.scales = standardise(table, static_cast<std::size_t>(num_train));
  const std::int64_t classes = num_classes(table, config);
  opened.facts = facts_of(table, classes);
  opened.vocabulary = table.class_names;
  opened.source.features = table.feature_names;
  opened.source.target = table.target_name;
  const std::shared_ptr<const Dataset> all = std::make_shared<TableDataset>(
      TableRecords{std::move(table.features), opened.facts.input_shape, std::move(table.targets),
                   classes > 0 ? TargetKind::kClass : TargetKind::kNumber});
  opened.train = subset(all, 0, num_train);
  opened.test = subset(all, num_train, all->size());
  return opened;
}

}  // namespace cohort::data
