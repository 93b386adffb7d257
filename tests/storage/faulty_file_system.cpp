#include "storage/faulty_file_system.h"

#include <cohort/random.h>
#include <fmt/format.h>

namespace cohort {

template <class Body>
auto FaultyFileSystem::call(Body body, const OnFile& file) -> decltype(body()) {
  const std::lock_guard lock(mutex_);
  ++calls_;
  if (power_ == Power::kOff) {
    return Error(ErrorCode::kAborted,
                 fmt::format("file system call {}: the power is off until restart()", calls_));
  }
  if (file.opened_after && *file.opened_after != crashes_) {
    return Error(ErrorCode::kStale,
                 fmt::format("file system call {}: the file was opened before a crash", calls_));
  }
  if (strikes_now()) {
    if (file.partly) file.partly();
    return strike();
  }
  return body();
}

bool FaultyFileSystem::strikes_now() const {
  return faults_.fail_call == calls_ || faults_.crash_call == calls_;
}

Error FaultyFileSystem::strike() {
  if (faults_.crash_call != calls_) {
    return Error(faults_.code, fmt::format("file system call {} fails on purpose", calls_));
  }
  cut_power();
  return Error(ErrorCode::kAborted, fmt::format("power cut at file system call {}", calls_));
}

void FaultyFileSystem::cut_power() {
  inner_.lose_unsynced(RandomStream(faults_.seed, 0).bits(crashes_));
  ++crashes_;
  power_ = Power::kOff;
}

class FaultyFileSystem::Reader final : public ReadableFile {
 public:
  Reader(FaultyFileSystem& fs, std::unique_ptr<ReadableFile> inner)
      : fs_(fs), opened_after_(fs.crashes_), inner_(std::move(inner)) {}

  Result<std::uint64_t> size_bytes() override {
    return fs_.call([&] { return inner_->size_bytes(); }, {opened_after_, {}});
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    return fs_.call([&] { return inner_->read_at(offset, into); }, {opened_after_, {}});
  }

 private:
  FaultyFileSystem& fs_;
  const std::uint64_t opened_after_;
  const std::unique_ptr<ReadableFile> inner_;
};

class FaultyFileSystem::Writer final : public WritableFile {
 public:
  Writer(FaultyFileSystem& fs, std::unique_ptr<WritableFile> inner)
      : fs_(fs), opened_after_(fs.crashes_), inner_(std::move(inner)) {}

  Status append(std::span<const std::byte> bytes) override {
    const auto partly = [&] {
      if (fs_.faults_.append == FailedAppend::kAddsNothing) return;
      const RandomStream lengths(fs_.faults_.seed, 1);
      (void)inner_->append(bytes.first(lengths.below(bytes.size() + 1, fs_.calls_)));
    };
    return fs_.call([&] { return inner_->append(bytes); }, {opened_after_, partly});
  }
  Status sync() override {
    return fs_.call([&] { return inner_->sync(); }, {opened_after_, {}});
  }
  Status close() override {
    return fs_.call([&] { return inner_->close(); }, {opened_after_, {}});
  }

 private:
  FaultyFileSystem& fs_;
  const std::uint64_t opened_after_;
  const std::unique_ptr<WritableFile> inner_;
};

std::uint64_t FaultyFileSystem::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void FaultyFileSystem::crash() {
  const std::lock_guard lock(mutex_);
  cut_power();
}

void FaultyFileSystem::restart() {
  const std::lock_guard lock(mutex_);
  power_ = Power::kOn;
}

Result<std::unique_ptr<ReadableFile>> FaultyFileSystem::open_read(const std::string& path) {
  return call([&]() -> Result<std::unique_ptr<ReadableFile>> {
    COHORT_ASSIGN_OR_RETURN(auto file, inner_.open_read(path));
    return std::make_unique<Reader>(*this, std::move(file));
  });
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::create(const std::string& path) {
  return call([&]() -> Result<std::unique_ptr<WritableFile>> {
    COHORT_ASSIGN_OR_RETURN(auto file, inner_.create(path));
    return std::make_unique<Writer>(*this, std::move(file));
  });
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::create_new(const std::string& path) {
  return call([&]() -> Result<std::unique_ptr<WritableFile>> {
    COHORT_ASSIGN_OR_RETURN(auto file, inner_.create_new(path));
    return std::make_unique<Writer>(*this, std::move(file));
  });
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::open_append(const std::string& path) {
  return call([&]() -> Result<std::unique_ptr<WritableFile>> {
    COHORT_ASSIGN_OR_RETURN(auto file, inner_.open_append(path));
    return std::make_unique<Writer>(*this, std::move(file));
  });
}

Result<FileInfo> FaultyFileSystem::info(const std::string& path) {
  return call([&] { return inner_.info(path); });
}

Result<bool> FaultyFileSystem::exists(const std::string& path) {
  return call([&] { return inner_.exists(path); });
}

Result<std::vector<std::string>> FaultyFileSystem::list(const std::string& directory) {
  return call([&] { return inner_.list(directory); });
}

Status FaultyFileSystem::make_directories(const std::string& directory) {
  return call([&] { return inner_.make_directories(directory); });
}

Status FaultyFileSystem::rename(const std::string& from, const std::string& to) {
  return call([&] { return inner_.rename(from, to); });
}

Status FaultyFileSystem::remove(const std::string& path) {
  return call([&] { return inner_.remove(path); });
}

Status FaultyFileSystem::sync_directory(const std::string& directory) {
  return call([&] { return inner_.sync_directory(directory); });
}

Status FaultyFileSystem::check_writable(const std::string& directory) {
  return call([&] { return inner_.check_writable(directory); });
}

}  // namespace cohort
