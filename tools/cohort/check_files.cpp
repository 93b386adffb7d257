#include "check_files.h"

#include "records/cifar.h"
#include "records/csv_table.h"
#include "records/labelled_images.h"
#include "records/record_file.h"
#include "records/text_tokens.h"
#include "state/run_directory.h"
#include "state/safetensors.h"

#include <filesystem>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

Status check_csv(FileSystem& files, const DataConfig& data) {
  using records::CsvTarget;
  const CsvTarget target = data.target == "class"    ? CsvTarget::kClass
                           : data.target == "number" ? CsvTarget::kNumber
                                                     : CsvTarget::kAuto;
  COHORT_RETURN_IF_ERROR(
      records::read_csv_files(files, {data.path, data.test_path}, {data.target_column, target}));
  return {};
}

records::FolderTest folder_test_of(const DataConfig& data) {
  const bool has_split = data.split != "auto" || data.test_share.has_value();
  return has_split ? records::FolderTest::kLeftAside : records::FolderTest::kUsed;
}

Status check_cifar(FileSystem& files, const DataConfig& data) {
  COHORT_ASSIGN_OR_RETURN(const records::CifarFiles found,
                          records::find_cifar(files, data.path, data.test_path, folder_test_of(data)));
  COHORT_RETURN_IF_ERROR(records::open_cifar(files, found.train, found.class_names));
  if (!found.test.empty()) COHORT_RETURN_IF_ERROR(records::open_cifar(files, found.test, found.class_names));
  return {};
}

Status check_idx(FileSystem& files, const DataConfig& data) {
  COHORT_ASSIGN_OR_RETURN(const records::ImageSources found,
                          records::find_images(files, data.path, data.test_path, folder_test_of(data)));
  COHORT_RETURN_IF_ERROR(records::open_images(files, found.train));
  if (found.test) COHORT_RETURN_IF_ERROR(records::open_images(files, *found.test));
  return {};
}

Status check_text(FileSystem& files, const DataConfig& data) {
  const auto kind = data.tokens == "byte" ? records::TokenKind::kByte : records::TokenKind::kChar;
  for (const std::string& path : {data.path, data.test_path}) {
    if (path.empty()) continue;
    COHORT_ASSIGN_OR_RETURN(const std::string text, records::read_record_file(files, path));
    COHORT_RETURN_IF_ERROR(records::tokens_of(kind, {{text, path}}));
  }
  return {};
}

Status check_data(FileSystem& files, const DataConfig& data) {
  if (data.kind == "cifar") return check_cifar(files, data);
  if (data.kind == "csv") return check_csv(files, data);
  if (data.kind == "idx") return check_idx(files, data);
  if (data.kind == "text") return check_text(files, data);
  return {};
}

Status check_safetensors(FileSystem& files, const std::string& path) {
  if (!path.empty()) COHORT_RETURN_IF_ERROR(SafetensorsFile::open(files, path));
  return {};
}

Status check_is_there(FileSystem& files, const std::string& path) {
  if (path.empty()) return {};
  COHORT_ASSIGN_OR_RETURN(const FileInfo info, files.info(path));
  if (info.kind == FileKind::kFile) COHORT_RETURN_IF_ERROR(files.open_read(path));
  return {};
}

// Jobs of `cohort run` set none of these keys, and have no run directory.
bool is_training(const config::Loaded& job) {
  for (const auto& [key, location] : job.locations) {
    for (const char* const section : {"data.", "model.", "optimizer.", "schedule.", "train."}) {
      if (key.starts_with(section)) return true;
    }
  }
  return false;
}

Status check_directory(FileSystem& files, const config::Loaded& job) {
  if (!is_training(job)) return {};
  return check_run_directory(files, std::filesystem::absolute(job.config.train.directory).string());
}

}  // namespace

std::vector<std::string> check_files(FileSystem& files, const config::Loaded& job, const std::string& file) {
  std::vector<std::string> mistakes;
  const auto add = [&](const char* key, const Status& status) {
    if (status) return;
    const auto location = job.locations.find(key);
    mistakes.push_back(fmt::format("{}: {}: {}", location == job.locations.end() ? file : location->second,
                                   key, status.error().text()));
  };
  const Config& config = job.config;
  add("data.path", check_is_there(files, config.data.path));
  add("data.test_path", check_is_there(files, config.data.test_path));
  if (mistakes.empty()) add("data.path", check_data(files, config.data));
  add("model.initial", check_safetensors(files, config.model.initial));
  add("mask.file", check_safetensors(files, config.mask.file));
  add("train.directory", check_directory(files, job));
  return mistakes;
}

}  // namespace cohort::tool
