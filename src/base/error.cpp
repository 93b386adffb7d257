#include <cohort/error.h>

#include "base/check.h"

#include <fmt/format.h>

namespace cohort {
namespace {

constexpr std::string_view kCodeNames[] = {
    "usage",          "bug",        "peer_lost", "timed_out", "aborted",     "stale", "corrupt", "not_found",
    "already_exists", "permission", "disk_full", "exhausted", "unsupported", "io",    "diverged"};

std::string_view short_file(const char* file) {
  const std::string_view path = file;
  const auto source = path.rfind("src/");
  return source == std::string_view::npos ? path : path.substr(source + 4);
}

void append_sentence(std::string& paragraph, std::string_view sentence) {
  if (sentence.empty()) return;
  if (!paragraph.empty() && std::string_view(".!?").find(paragraph.back()) == std::string_view::npos) {
    paragraph += '.';
  }
  paragraph += ' ';
  paragraph += sentence;
}

}  // namespace

std::string_view name(ErrorCode code) {
  return kCodeNames[static_cast<size_t>(code)];
}

struct Error::Level {
  ErrorCode code;
  std::string message;
  std::string remedy;
  SourceLocation location;
  std::shared_ptr<const Error> cause;
  std::optional<int> rank{};

  std::string contexts() const { return cause ? message + ": " + cause->level_->contexts() : message; }

  std::string for_user() const {
    std::string paragraph = contexts();
    append_sentence(paragraph, advice());
    return paragraph;
  }

  std::string for_developer() const {
    const SourceLocation where = cause ? cause->root().location() : location;
    std::string paragraph =
        fmt::format("{} [{} at {}:{}]", contexts(), name(code), short_file(where.file), where.line);
    append_sentence(paragraph, advice());
    return paragraph;
  }

  const std::string& advice() const { return remedy.empty() && cause ? cause->level_->advice() : remedy; }
};

Error::Error(ErrorCode code, std::string message, SourceLocation location)
    : Error(std::make_shared<Level>(Level{code, std::move(message), {}, location, nullptr})) {}

Error::Error(std::shared_ptr<const Level> level)
    : std::runtime_error(level->for_developer()), level_(std::move(level)) {}

Error Error::within(std::string context, SourceLocation location) const {
  return Error(std::make_shared<Level>(
      Level{code(), std::move(context), {}, location, std::make_shared<Error>(*this)}));
}

Error Error::with_remedy(std::string remedy) const {
  Level level = *level_;
  level.remedy = std::move(remedy);
  return Error(std::make_shared<Level>(std::move(level)));
}

Error Error::with_rank(int rank) const {
  Level level = *level_;
  level.rank = rank;
  return Error(std::make_shared<Level>(std::move(level)));
}

ErrorCode Error::code() const noexcept {
  return level_->code;
}

const std::string& Error::message() const noexcept {
  return level_->message;
}

SourceLocation Error::location() const noexcept {
  return level_->location;
}

const Error* Error::cause() const noexcept {
  return level_->cause.get();
}

const Error& Error::root() const noexcept {
  const Error* level = this;
  while (level->cause() != nullptr) level = level->cause();
  return *level;
}

const std::string& Error::remedy() const noexcept {
  return level_->advice();
}

std::optional<int> Error::rank() const noexcept {
  if (level_->rank || !level_->cause) return level_->rank;
  return level_->cause->rank();
}

bool Error::is_recoverable() const noexcept {
  switch (code()) {
    case ErrorCode::kPeerLost:
    case ErrorCode::kTimedOut:
    case ErrorCode::kAborted:
    case ErrorCode::kStale:
    case ErrorCode::kDiskFull:
    case ErrorCode::kExhausted:
    case ErrorCode::kIo:
      return true;
    case ErrorCode::kUsage:
    case ErrorCode::kBug:
    case ErrorCode::kCorrupt:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermission:
    case ErrorCode::kUnsupported:
    case ErrorCode::kDiverged:
      return false;
  }
  return false;
}

std::string Error::text() const {
  return level_->for_user();
}

void raise(const Error& error) {
  if (error.code() == ErrorCode::kUsage) throw UsageError(error);
  if (error.code() == ErrorCode::kBug) throw BugError(error);
  throw error;
}

namespace base {

void check_failed(const char* condition, const std::string& values, const std::string& details,
                  SourceLocation location) {
  throw BugError(fmt::format("check failed: {}{}{}", condition, values, details), location);
}

}  // namespace base
}  // namespace cohort
