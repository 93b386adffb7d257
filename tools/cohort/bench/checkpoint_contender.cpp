#include "bench/checkpoint_contender.h"

#include "checkpoint/restore.h"
#include "checkpoint/snapshot_folder.h"
#include "state/gather_lists.h"
#include "storage/path.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <unistd.h>

namespace cohort::tool {
namespace {

using checkpoint::Saver;
using checkpoint::Writing;
using measure::Interval;

constexpr std::size_t kPlainWriteBytes = std::size_t{1} << 20;

std::int64_t monotonic_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Every snapshot is kept: removing is the benchmark's own work, between the turns.
checkpoint::SaverOptions saver_options(const std::string& folder, Writing writing) {
  return {.folder = folder,
          .writing = writing,
          .retention = {.last = std::numeric_limits<int>::max(), .best = 0}};
}

checkpoint::Course course_of(std::uint64_t salt) {
  checkpoint::Course course;
  course.position.step = static_cast<std::int64_t>(salt);
  return course;
}

Status status_of(std::vector<checkpoint::SaveReport> reports) {
  if (reports.size() == 1) return std::move(reports.front().status);
  return Error(ErrorCode::kBug, fmt::format("a save has {} reports, expected one", reports.size()));
}

Status append_in_parts(WritableFile& file, std::span<const std::byte> bytes) {
  for (std::size_t first = 0; first < bytes.size(); first += kPlainWriteBytes) {
    COHORT_RETURN_IF_ERROR(
        file.append(bytes.subspan(first, std::min(kPlainWriteBytes, bytes.size() - first))));
  }
  return {};
}

Status fill_from(FileSystem& files, const std::string& path, std::uint64_t offset,
                 std::span<std::byte> bytes) {
  COHORT_ASSIGN_OR_RETURN(const auto file, files.open_read(path));
  COHORT_ASSIGN_OR_RETURN(const std::size_t count, file->read_at(offset, bytes));
  if (count == bytes.size()) return {};
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' ends after {} bytes, expected {}", path, offset + count,
                                                offset + bytes.size()));
}

}  // namespace

CheckpointContender::CheckpointContender(const BenchSeat& seat, std::uint64_t total_bytes,
                                         BenchCommunicator bench)
    : seat_(seat), bench_(std::move(bench)), state_(seat.rank, seat.ranks, total_bytes) {}

Result<std::unique_ptr<CheckpointContender>> CheckpointContender::open(const BenchSeat& seat,
                                                                       std::uint64_t total_bytes) {
  COHORT_ASSIGN_OR_RETURN(BenchCommunicator bench, make_bench_communicator(seat));
  std::unique_ptr<CheckpointContender> contender(
      new CheckpointContender(seat, total_bytes, std::move(bench)));
  COHORT_RETURN_IF_ERROR(contender->open_savers());
  return contender;
}

Status CheckpointContender::open_savers() {
  const auto open = [&](const char* folder, Writing writing) {
    return Saver::make(*bench_.group, files_, saver_options(storage::joined(seat_.folder, folder), writing));
  };
  COHORT_ASSIGN_OR_RETURN(at_once_, open("save", Writing::kAtOnce));
  COHORT_ASSIGN_OR_RETURN(behind_, open("stall", Writing::kBehind));
  return {};
}

Result<Interval> CheckpointContender::run(const measure::StateCommand& command) {
  if (command.work == "save") return save(command.salt);
  if (command.work == "write") return write(command.salt);
  if (command.work == "load") return load(command.salt);
  if (command.work == "read") return read(command.salt);
  if (command.work == "stall") return stall(command.salt);
  if (command.work == "copy") return copy(command.salt);
  return Error(
      ErrorCode::kUnsupported,
      fmt::format("'{}' is not a work: expected save, write, load, read, stall or copy", command.work));
}

// The disk has nothing left to do from before when the time begins.
template <class Work>
Result<Interval> CheckpointContender::timed(const Work& work) {
  if (seat_.rank == 0) ::sync();
  COHORT_RETURN_IF_ERROR(bench_.group->run(barrier()));
  Interval interval{.start_ns = monotonic_ns()};
  COHORT_RETURN_IF_ERROR(work());
  interval.end_ns = monotonic_ns();
  return interval;
}

Result<Interval> CheckpointContender::save(std::uint64_t salt) {
  COHORT_RETURN_IF_ERROR(clear(storage::joined(seat_.folder, "save")));
  state_.fill(salt);
  const auto pieces = state_.pieces();
  COHORT_ASSIGN_OR_RETURN(const Interval interval,
                          timed([&] { return at_once_->save(pieces, course_of(salt)); }));
  COHORT_RETURN_IF_ERROR(status_of(at_once_->take_reports()));
  return interval;
}

Result<Interval> CheckpointContender::load(std::uint64_t salt) {
  state_.spoil();
  COHORT_ASSIGN_OR_RETURN(const Interval interval,
                          timed([&] { return restore_from(storage::joined(seat_.folder, "save")); }));
  COHORT_RETURN_IF_ERROR(state_.verify(salt));
  return interval;
}

// The state changes while the snapshot is written, as training would change it.
Result<Interval> CheckpointContender::stall(std::uint64_t salt) {
  const std::string folder = storage::joined(seat_.folder, "stall");
  COHORT_RETURN_IF_ERROR(clear(folder));
  state_.fill(salt);
  const auto pieces = state_.pieces();
  COHORT_ASSIGN_OR_RETURN(const Interval interval,
                          timed([&] { return behind_->save(pieces, course_of(salt)); }));
  state_.spoil();
  COHORT_RETURN_IF_ERROR(behind_->finish());
  COHORT_RETURN_IF_ERROR(status_of(behind_->take_reports()));
  COHORT_RETURN_IF_ERROR(restore_from(folder));
  COHORT_RETURN_IF_ERROR(state_.verify(salt));
  return interval;
}

Result<Interval> CheckpointContender::write(std::uint64_t salt) {
  if (::unlink(plain_file(seat_.rank).c_str()) != 0 && errno != ENOENT) {
    return Error(ErrorCode::kIo, fmt::format("cannot remove '{}'", plain_file(seat_.rank)));
  }
  state_.fill(salt);
  return timed([&] { return write_plain(); });
}

Result<Interval> CheckpointContender::read(std::uint64_t salt) {
  state_.spoil();
  COHORT_ASSIGN_OR_RETURN(const Interval interval, timed([&] { return read_plain(); }));
  COHORT_RETURN_IF_ERROR(state_.verify(salt));
  return interval;
}

Result<Interval> CheckpointContender::copy(std::uint64_t salt) {
  state_.fill(salt);
  const std::span<const std::byte> mine = parameters_of(seat_.rank), moments = state_.moments();
  copy_.assign(mine.size() + moments.size(), std::byte{0xFF});
  COHORT_ASSIGN_OR_RETURN(const Interval interval, timed([&]() -> Status {
                            std::memcpy(copy_.data(), mine.data(), mine.size());
                            std::memcpy(copy_.data() + mine.size(), moments.data(), moments.size());
                            return {};
                          }));
  if (std::equal(mine.begin(), mine.end(), copy_.begin()) &&
      std::equal(moments.begin(), moments.end(), copy_.begin() + static_cast<std::ptrdiff_t>(mine.size()))) {
    return interval;
  }
  return Error(ErrorCode::kCorrupt, "the copy differs from the state");
}

Status CheckpointContender::restore_from(const std::string& folder) {
  const auto targets = [&](const checkpoint::Manifest&) -> Result<std::vector<Piece>> {
    return state_.pieces();
  };
  COHORT_ASSIGN_OR_RETURN(const auto restored,
                          checkpoint::restore(*bench_.group, files_, {.folder = folder}, targets));
  if (restored && restored->damaged.empty()) return {};
  return Error(ErrorCode::kCorrupt, fmt::format("the snapshot in '{}' is not whole", folder));
}

// Rank 0 removes the snapshots of the turns before.
Status CheckpointContender::clear(const std::string& folder) {
  const auto remove_all = [&]() -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto names, checkpoint::list_snapshots(files_, folder));
    for (const std::string& name : names) {
      COHORT_RETURN_IF_ERROR(checkpoint::remove_snapshot(files_, folder, name));
    }
    return {};
  };
  return state::agree(*bench_.group, seat_.rank == 0 ? remove_all() : Status());
}

std::string CheckpointContender::plain_file(int rank) const {
  return storage::joined(seat_.folder, fmt::format("plain-{}", rank));
}

std::span<std::byte> CheckpointContender::parameters_of(int rank) {
  const auto all = state_.parameters();
  const auto index = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(seat_.ranks);
  const std::size_t first = all.size() * index / ranks;
  return all.subspan(first, all.size() * (index + 1) / ranks - first);
}

Status CheckpointContender::write_plain() {
  COHORT_ASSIGN_OR_RETURN(const auto file, files_.create(plain_file(seat_.rank)));
  COHORT_RETURN_IF_ERROR(append_in_parts(*file, parameters_of(seat_.rank)));
  COHORT_RETURN_IF_ERROR(append_in_parts(*file, state_.moments()));
  COHORT_RETURN_IF_ERROR(file->sync());
  return file->close();
}

Status CheckpointContender::read_plain() {
  for (int rank = 0; rank < seat_.ranks; ++rank) {
    COHORT_RETURN_IF_ERROR(fill_from(files_, plain_file(rank), 0, parameters_of(rank)));
  }
  return fill_from(files_, plain_file(seat_.rank), parameters_of(seat_.rank).size(), state_.moments());
}

}  // namespace cohort::tool
