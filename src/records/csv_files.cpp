#include "records/csv_table.h"

#include <fmt/format.h>
#include <unordered_map>

namespace cohort::records {
namespace {

Status append(CsvTable& table, const CsvTable& more, const CsvPaths& paths) {
  if (more.feature_names != table.feature_names || more.target_name != table.target_name) {
    return Error(ErrorCode::kUsage, fmt::format("'{}' has other columns than '{}'", paths.test, paths.train))
        .with_remedy("Give both files the same header.");
  }
  std::unordered_map<std::string, float> classes;
  for (const std::string& name : table.class_names) {
    classes.emplace(name, static_cast<float>(classes.size()));
  }
  std::vector<float> class_of;
  for (const std::string& name : more.class_names) {
    const auto found = classes.find(name);
    if (found == classes.end()) {
      return Error(ErrorCode::kUsage, fmt::format("'{}' has the class '{}', which is not in '{}'", paths.test,
                                                  name, paths.train));
    }
    class_of.push_back(found->second);
  }
  table.features.insert(table.features.end(), more.features.begin(), more.features.end());
  for (const float target : more.targets) {
    table.targets.push_back(class_of.empty() ? target : class_of[static_cast<std::size_t>(target)]);
  }
  return {};
}

}  // namespace

Result<CsvFiles> read_csv_files(FileSystem& fs, const CsvPaths& paths, CsvOptions options) {
  CsvFiles files;
  COHORT_ASSIGN_OR_RETURN(files.table, read_csv(fs, paths.train, options));
  files.num_train = files.table.num_rows();
  if (paths.test.empty()) return files;
  options.target = files.table.class_names.empty() ? CsvTarget::kNumber : CsvTarget::kClass;
  COHORT_ASSIGN_OR_RETURN(const CsvTable test, read_csv(fs, paths.test, options));
  COHORT_RETURN_IF_ERROR(append(files.table, test, paths));
  return files;
}

}  // namespace cohort::records
