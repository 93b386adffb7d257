#include "data/openers.h"
#include "data/records_in_memory.h"
#include "data/standardise.h"
#include "records/csv_table.h"

#include <algorithm>
#include <cohort/views.h>
#include <fmt/format.h>

namespace cohort::data {
namespace {

using records::CsvTable;
using records::CsvTarget;

Result<CsvTarget> target_of(const DataConfig& config) {
  if (config.target == "auto") return CsvTarget::kAuto;
  if (config.target == "class") return CsvTarget::kClass;
  if (config.target == "number") return CsvTarget::kNumber;
  return bad_key("target", fmt::format("'{}' is unknown", config.target), "Take auto, class or number.");
}

// Moves the rows of the test data behind the others and returns the number of the others.
Result<std::size_t> move_test_rows(CsvTable& table, const TestSplit& split) {
  if (split.kind == SplitKind::kStratified && table.class_names.empty()) {
    return bad_key(
        "split",
        fmt::format("= \"stratified\" requires classes, and the target '{}' is a number", table.target_name),
        "Set data.split = \"random\", or data.target = \"class\" if the numbers are classes.");
  }
  std::vector<std::int64_t> classes;
  for (const float target : table.targets) classes.push_back(static_cast<std::int64_t>(target));
  const auto is_test = choose_test_samples(split, table.num_rows(), classes);
  move_to_end(table.features, table.num_features(), is_test);
  move_to_end(table.targets, 1, is_test);
  return static_cast<std::size_t>(std::count(is_test.begin(), is_test.end(), false));
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

Result<OpenedData> open_csv(FileSystem& fs, const DataConfig& config, std::uint64_t seed) {
  COHORT_ASSIGN_OR_RETURN(const CsvTarget target, target_of(config));
  COHORT_ASSIGN_OR_RETURN(auto files, records::read_csv_files(fs, {config.path, config.test_path},
                                                              {config.target_column, target}));
  CsvTable& table = files.table;
  if (config.test_path.empty()) {
    COHORT_ASSIGN_OR_RETURN(const TestSplit split, split_of(config, seed));
    COHORT_ASSIGN_OR_RETURN(files.num_train, move_test_rows(table, split));
  }
  OpenedData opened;
  if (config.normalize) opened.source.scales = standardise(table, files.num_train);
  const auto classes = static_cast<std::int64_t>(table.class_names.size());
  opened.facts = facts_of(table, classes);
  opened.vocabulary = table.class_names;
  opened.source.features = table.feature_names;
  opened.source.target = table.target_name;
  const std::shared_ptr<const Dataset> all = std::make_shared<TableDataset>(
      TableRecords{std::move(table.features), opened.facts.input_shape, std::move(table.targets),
                   classes > 0 ? TargetKind::kClass : TargetKind::kNumber});
  opened.train = subset(all, 0, static_cast<std::int64_t>(files.num_train));
  opened.test = subset(all, static_cast<std::int64_t>(files.num_train), all->size());
  return opened;
}

}  // namespace cohort::data
