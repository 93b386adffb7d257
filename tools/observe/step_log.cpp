#include "observe/step_log.h"

#include "storage/path.h"
#include "storage/whole_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>

namespace cohort::observe {

std::string json_line(const StepReport& step) {
  nlohmann::ordered_json object{{"step", step.step},
                                {"epoch", step.epoch},
                                {"loss", step.loss},
                                {"learning_rate", step.learning_rate},
                                {"samples", step.samples},
                                {"seconds", step.seconds},
                                {"communication_seconds", step.communication_seconds},
                                {"stall_seconds", step.stall_seconds}};
  if (step.gradient_norm) object["gradient_norm"] = *step.gradient_norm;
  object["skipped"] = step.skipped;
  if (step.loss_scale) object["loss_scale"] = *step.loss_scale;
  if (!step.f32_stages.empty()) object["f32_stages"] = step.f32_stages;
  return object.dump() + '\n';
}

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestGathering = 1s;
constexpr std::size_t kMostGatheredBytes = std::size_t{1} << 20;

// The lines of steps up to `steps`. A line that was cut when its writer was killed has no such step.
std::string first_lines(const std::string& text, std::int64_t steps) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    const std::string line = text.substr(at, end + 1 - at);
    at = end + 1;
    const auto step = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const bool has_step = step.is_object() && step.contains("step") && step["step"].is_number_integer();
    if (has_step && step["step"].get<std::int64_t>() <= steps) kept += line;
  }
  return kept;
}

// The file holds the lines of the first steps, however this ends.
Status cut(FileSystem& files, const std::string& path, std::int64_t steps) {
  const auto text = read_file(files, path);
  if (!text && text.error().code() == ErrorCode::kNotFound) return {};
  COHORT_RETURN_IF_ERROR(text);
  const std::string kept = first_lines(*text, steps);
  return write_file_atomically(files, path, std::as_bytes(std::span(kept)));
}

}  // namespace

Result<StepLog> StepLog::open(FileSystem& files, const Clock& clock, const std::string& path,
                              std::int64_t steps_before) {
  const std::string context = fmt::format("cannot open the log of steps '{}'", path);
  COHORT_RETURN_IF_ERROR(files.make_directories(storage::directory_of(path)).within(context));
  if (steps_before > 0) COHORT_RETURN_IF_ERROR(cut(files, path, steps_before).within(context));
  auto opened = steps_before > 0 ? files.open_append(path) : files.create(path);
  COHORT_ASSIGN_OR_RETURN(auto file, std::move(opened).within(context));
  return StepLog(clock, path, std::move(file));
}

StepLog::StepLog(const Clock& clock, std::string path, std::unique_ptr<WritableFile> file)
    : clock_(&clock), path_(std::move(path)), file_(std::move(file)), flushed_at_(clock.now()) {}

Status StepLog::add(const StepReport& record) {
  if (file_ == nullptr) return {};
  gathered_ += json_line(record);
  const bool is_due =
      gathered_.size() >= kMostGatheredBytes || clock_->now() - flushed_at_ >= kLongestGathering;
  return is_due ? flush() : Status();
}

Status StepLog::flush() {
  if (file_ == nullptr) return {};
  const Status status = file_->append(std::as_bytes(std::span(gathered_)));
  gathered_.clear();
  flushed_at_ = clock_->now();
  return checked(status);
}

Status StepLog::close() {
  COHORT_RETURN_IF_ERROR(flush());
  if (file_ == nullptr) return {};
  COHORT_RETURN_IF_ERROR(checked(file_->sync()));
  Status closed = checked(file_->close());
  file_.reset();
  return closed;
}

Status StepLog::checked(Status status) {
  if (status) return status;
  file_.reset();
  gathered_.clear();
  return status.error()
      .within(fmt::format("cannot write the log of steps '{}'; it ends here", path_))
      .with_remedy("Make room where train.directory lies, or set it to another folder.");
}

}  // namespace cohort::observe
