#include "observe/step_log.h"

#include "storage/path.h"

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
  return object.dump() + '\n';
}

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestGathering = 1s;
constexpr std::size_t kMostGatheredBytes = std::size_t{1} << 20;

}  // namespace

Result<StepLog> StepLog::open(FileSystem& files, const Clock& clock, const std::string& path) {
  const std::string context = fmt::format("cannot open the log of steps '{}'", path);
  COHORT_RETURN_IF_ERROR(files.make_directories(storage::directory_of(path)).within(context));
  COHORT_ASSIGN_OR_RETURN(auto file, files.create(path).within(context));
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
