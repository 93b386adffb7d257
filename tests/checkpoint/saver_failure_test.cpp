#include "checkpoint/saver_world.h"
#include "checkpoint/watched_file_system.h"
#include "soak.h"
#include "storage/faulty_file_system.h"
#include "storage/whole_file.h"

#include <array>
#include <gtest/gtest.h>
#include <mutex>
#include <new>

// Saves whose disk fails, fills up or loses power, at every call.

namespace cohort::test {
namespace {

using checkpoint::list_snapshots;
using checkpoint::Saver;
using checkpoint::SaveReport;
using checkpoint::SaverOptions;
using checkpoint::snapshot_name;
using checkpoint::step_of;
using checkpoint::Writing;

// A model and the state of an optimizer, of which each rank has a part.
RankState own_part(int rank, int world) {
  RankState state;
  const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(world);
  state.add({.name = "fc.weight", .shape = {10, 20}}, whole({10, 20}));
  state.add({.name = "fc.weight/exp_avg", .shape = {400}},
            flat_range({400}, 400 * r / n, 400 * (r + 1) / n - 400 * r / n));
  return state;
}

/// The text of the reports of the ranks; all ranks must say the same.
struct Log {
  std::mutex mutex;
  std::map<int, std::vector<Status>> by_step;  // by step: of the ranks
  std::vector<Status> removals;
  std::vector<Status> beginnings;  // of ranks that could not begin, or whose group failed

  void add(const SaveReport& report) {
    const std::lock_guard lock(mutex);
    by_step[static_cast<int>(report.step)].push_back(report.status);
    if (!report.removal) removals.push_back(report.removal);
  }
  void add_beginning(const Status& status) {
    const std::lock_guard lock(mutex);
    beginnings.push_back(status);
  }
  std::vector<int> steps_done() const {
    std::vector<int> steps;
    for (const auto& [step, all] : by_step) {
      if (all.front()) steps.push_back(step);
    }
    return steps;
  }
};

/// A run that saves the steps `first` … `last`.
struct Script {
  int first = 1, last = 4;
  SaverOptions options{.folder = "run", .retention = {.last = 2, .best = 0}, .full_every = 2};
};

Status train(Seat& seat, FileSystem& files, const Script& script, Log& log) {
  auto saver = Saver::make(*seat, files, script.options);
  if (!saver) {
    log.add_beginning(saver.error());
    return {};
  }
  RankState state = own_part(seat.index(), seat.size());
  for (int step = script.first; step <= script.last; ++step) {
    COHORT_ASSIGN_OR_RETURN(const SaveReport report, save_version(**saver, state, step));
    log.add(report);
  }
  return {};
}

void run_script(int world, FileSystem& files, const Script& script, Log& log) {
  run_ranks(world, [&](Seat& seat) { return train(seat, files, script, log); });
  for (const auto& [step, all] : log.by_step) {
    ASSERT_EQ(all.size(), static_cast<std::size_t>(world));
    for (const Status& status : all) {
      ASSERT_EQ(status.has_value(), all.front().has_value()) << "step " << step;
      if (!status) {
        ASSERT_NE(status.error().text().find("'run/"), std::string::npos) << status.error().text();
      }
    }
  }
}

int restored_step(FileSystem& files) {
  RankState state = own_part(0, 1);
  const auto restored = checkpoint::restore(
      files, {.folder = "run"},
      [&](const checkpoint::Manifest&) -> Result<std::vector<Piece>> { return state.pieces(); });
  EXPECT_TRUE(restored) << restored.error().text();
  if (!restored || !*restored) return 0;
  EXPECT_TRUE((*restored)->damaged.empty()) << (*restored)->damaged.front().text();
  const int step = static_cast<int>((*restored)->course.position.step);
  EXPECT_EQ(state.first_wrong(step), "");
  return step;
}

// Every snapshot that is listed is whole.
void check_all_load(FileSystem& files) {
  for (const std::string& name : value_or_throw(list_snapshots(files, "run"))) {
    const auto snapshot = checkpoint::Snapshot::open(files, "run", name);
    ASSERT_TRUE(snapshot) << snapshot.error().text();
    RankState state = own_part(0, 1);
    const Status loaded = state::move(state.pieces(), **snapshot);
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_EQ(state.first_wrong(static_cast<int>(*step_of(name))), "") << name;
  }
}

// The next run removes what is left over, and saves.
void check_next_run(int world, FileSystem& files) {
  Script next{.first = 11, .last = 12};
  Log log;
  run_script(world, files, next, log);
  EXPECT_EQ(log.steps_done(), (std::vector{11, 12}));
  EXPECT_TRUE(log.removals.empty() && log.beginnings.empty());
  EXPECT_EQ(restored_step(files), 12);
  EXPECT_EQ(value_or_throw(files.list("run")), (std::vector{snapshot_name(11), snapshot_name(12)}));
}

// Steps 1 and 2 are saved before; returns false if the script ended before the call.
bool crash_at(int world, std::uint64_t call, std::uint64_t seed, const Script& script) {
  MemoryFileSystem disk;
  Log before, log;
  if (script.first > 1)
    run_script(world, disk, {.first = 1, .last = script.first - 1, .options = script.options}, before);
  FaultyFileSystem files(disk, {.crash_call = call, .seed = seed});
  run_script(world, files, script, log);
  const bool is_met = files.calls() >= call;
  if (!is_met) files.crash();
  files.restart();
  check_all_load(disk);
  const auto done = log.steps_done();
  const int newest = restored_step(disk);
  const int least = !done.empty() ? done.back() : script.first - 1;
  EXPECT_GE(newest, least) << "a snapshot that was reported as complete is gone";
  EXPECT_LE(newest, least + 1);
  if (!is_met) {
    EXPECT_EQ(done.back(), script.last);
  }
  check_next_run(world, disk);
  return is_met;
}

void crash_everywhere(int world, const Script& script, std::uint64_t num_seeds) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    std::uint64_t call = 1;
    while (crash_at(world, call, seed, script) && !testing::Test::HasFailure()) ++call;
    if (testing::Test::HasFailure()) FAIL() << "call " << call << ", seed " << seed;
    EXPECT_GT(call, 50u);
  }
}

// Full snapshots, differences, and removals of both.
TEST(SavingCrashes, LeaveTheNewestSnapshotWhole) {
  crash_everywhere(1, {}, rounds(3U, 50U));
}

TEST(SavingCrashes, LeaveTheSnapshotsOfEarlierRuns) {
  crash_everywhere(1, {.first = 3, .last = 4}, rounds(1U, 50U));
  crash_everywhere(
      1,
      {.first = 2,
       .last = 3,
       .options = {.folder = "run", .writing = Writing::kAtOnce, .retention = {.last = 1, .best = 0}}},
      rounds(1U, 50U));
}

TEST(SavingCrashes, OfSeveralRanks) {
  crash_everywhere(2, {.first = 1, .last = 3}, rounds(1U, 20U));
  if (is_soak()) crash_everywhere(3, {}, 10);
}

// One call fails: one save is reported as failed, by all ranks, or a removal.
bool fail_at(int world, std::uint64_t call, ErrorCode code, const Script& script) {
  MemoryFileSystem disk;
  Log before, log;
  run_script(world, disk, {.first = 1, .last = script.first - 1, .options = script.options}, before);
  FaultyFileSystem files(disk, {.fail_call = call, .code = code, .seed = call});
  run_script(world, files, script, log);
  const bool is_met = files.calls() >= call;
  const auto done = log.steps_done();
  const std::size_t num_steps = static_cast<std::size_t>(script.last - script.first + 1);
  if (log.beginnings.empty()) {
    EXPECT_GE(done.size() + 1, num_steps) << "more than one save failed";
  } else {
    EXPECT_EQ(log.beginnings.size(), static_cast<std::size_t>(world));
    for (const Status& status : log.beginnings) {
      EXPECT_NE(status.error().text().find("the folder 'run' cannot be used for checkpoints"),
                std::string::npos);
    }
  }
  if (!is_met) {
    EXPECT_EQ(done.size(), num_steps);
  }
  check_all_load(disk);
  const int newest = restored_step(disk);
  EXPECT_GE(newest, done.empty() ? script.first - 1 : done.back());
  check_next_run(world, disk);
  return is_met;
}

// Each call fails with one of the errors; `make soak` has all three for each call.
TEST(SavingFailures, AreReportedAndLeaveTheRestAlone) {
  constexpr std::array kCodes = {ErrorCode::kIo, ErrorCode::kDiskFull, ErrorCode::kPermission};
  for (std::size_t shift = 0; shift < rounds(std::size_t{1}, kCodes.size()); ++shift) {
    std::uint64_t call = 1;
    while (fail_at(1, call, kCodes[(call + shift) % kCodes.size()], {.first = 2, .last = 4}) && !HasFailure())
      ++call;
    if (HasFailure()) FAIL() << "call " << call;
    EXPECT_GT(call, 50u);
  }
}

TEST(SavingFailures, OfOneRankAreFailuresOfAll) {
  std::uint64_t call = 1;
  while (fail_at(2, call, ErrorCode::kIo, {.first = 2, .last = 3}) && !HasFailure()) ++call;
  if (HasFailure()) FAIL() << "call " << call;
}

// A disk of any size: what was reported is there, and what was not has left the disk as it was.
TEST(SavingFailures, OfADiskThatIsTooSmall) {
  const std::uint64_t step_bytes = rounds(311U, 7U);
  bool is_enough = false;
  int num_partly = 0;
  for (std::uint64_t capacity = 0; !is_enough; capacity += step_bytes) {
    MemoryFileSystem disk(capacity);
    Log log;
    run_script(2, disk, {.options = {.folder = "run", .retention = {.last = 2, .best = 0}}}, log);
    check_all_load(disk);
    const auto done = log.steps_done();
    EXPECT_EQ(restored_step(disk), done.empty() ? 0 : done.back());
    for (const std::string& name : value_or_throw(disk.list("run"))) EXPECT_TRUE(step_of(name)) << name;
    for (const auto& [step, all] : log.by_step) {
      if (!all.front()) {
        EXPECT_NE(all.front().error().text().find("Free some space"), std::string::npos);
      }
    }
    num_partly += !done.empty() && done.size() < 4 ? 1 : 0;
    is_enough = done.size() == 4;
    if (HasFailure()) FAIL() << capacity << " bytes";
  }
  EXPECT_GT(num_partly, 0);
}

// An exception on one rank, such as for memory, does not leave the others waiting.
TEST(SavingFailures, OfARankThatThrows) {
  MemoryFileSystem disk;
  WatchedFileSystem files(disk, [](const std::string& path) -> Status {
    if (path.find("step-000000000002/training-00002-of-") != std::string::npos) throw std::bad_alloc();
    if (path.find("step-000000000003/manifest.json") != std::string::npos) throw std::runtime_error("a bug");
    return {};
  });
  for (const Writing writing : {Writing::kBehind, Writing::kAtOnce}) {
    run_ranks(3, [&](Seat& seat) -> Status {
      COHORT_ASSIGN_OR_RETURN(const auto saver,
                              Saver::make(*seat, files, {.folder = "run", .writing = writing}));
      RankState state = own_part(seat.index(), seat.size());
      for (int step = 1; step <= 4; ++step) {
        COHORT_ASSIGN_OR_RETURN(const SaveReport report, save_version(*saver, state, step));
        const bool is_good = step == 1 || step == 4;
        if (report.status.has_value() != is_good) return unexpected(seat, "step {}", step);
        const std::string text = is_good ? "" : report.status.error().text();
        const std::string expected = is_good ? "" : step == 2 ? "there is no memory left" : "a bug";
        if (text.find(expected) == std::string::npos) return report.status;
      }
      COHORT_RETURN_IF_ERROR(restore_version(seat, files, state, 4));
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      if (seat.index() == 0)
        COHORT_RETURN_IF_ERROR(
            checkpoint::set_aside(disk, "run", value_or_throw(list_snapshots(disk, "run"))));
      return seat.rank.barrier();
    });
  }
}

// Rank 1 ends while the others write.
TEST(SavingFailures, OfARankThatDies) {
  for (const Writing writing : {Writing::kBehind, Writing::kAtOnce}) {
    MemoryFileSystem disk;
    run_ranks(3, [&](Seat& seat) -> Status {
      COHORT_ASSIGN_OR_RETURN(auto saver, Saver::make(*seat, disk, {.folder = "run", .writing = writing}));
      RankState state = own_part(seat.index(), seat.size());
      COHORT_ASSIGN_OR_RETURN(const SaveReport first, save_version(*saver, state, 1));
      COHORT_RETURN_IF_ERROR(first.status);
      if (seat.index() == 1) {
        saver.reset();
        seat.communicator.reset();
        return {};
      }
      const auto report = save_version(*saver, state, 2);
      if (report) return unexpected(seat, "no error");
      const ErrorCode code = report.error().code();
      return code == ErrorCode::kPeerLost || code == ErrorCode::kAborted ? Status() : report.error();
    });
    EXPECT_EQ(restored_step(disk), 1);
  }
}

// The mates of a rank whose restore ends half-way get an error that is not that of a damaged snapshot.
TEST(RestoringFailures, OfARankThatDies) {
  MemoryFileSystem disk;
  Log log;
  run_script(2, disk, {.last = 1}, log);
  run_ranks(2, [&](Seat& seat) -> Status {
    WatchedFileSystem files(disk, {}, [&](const std::string& path) {
      if (seat.index() == 1 && path.ends_with(".safetensors")) {
        seat->abort(Error(ErrorCode::kPeerLost, "rank 1 ends"));
      }
    });
    RankState state = own_part(seat.index(), seat.size());
    const Status restored = restore_version(seat, files, state, 1);
    if (restored) return unexpected(seat, "no error");
    return restored.error().text().find("snapshot is whole") == std::string::npos ? Status() : restored;
  });
}

// Damage that only one rank sees makes all ranks take an older snapshot.
TEST(RestoringFailures, OfOneRankAreThoseOfAll) {
  MemoryFileSystem disk;
  Log log;
  run_script(2, disk, {.options = {.folder = "run"}}, log);
  const std::string path = "run/" + snapshot_name(4) + "/training-00002-of-00002.safetensors";
  std::string text = value_or_throw(read_file(disk, path));
  text.back() = static_cast<char>(text.back() ^ 1);
  value_or_throw(value_or_throw(disk.create(path))->append(std::as_bytes(std::span(text))));
  run_ranks(2, [&](Seat& seat) -> Status {
    RankState state = own_part(seat.index(), seat.size());
    return restore_version(seat, disk, state, 3);
  });
}

/// The steps that are kept, after each of eight saves.
std::vector<std::vector<int>> kept_steps(const SaverOptions& options) {
  MemoryFileSystem disk;
  std::vector<std::vector<int>> kept;
  run_ranks(2, [&](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto saver, Saver::make(*seat, disk, options));
    RankState state = own_part(seat.index(), seat.size());
    for (int step = 1; step <= 8; ++step) {
      COHORT_ASSIGN_OR_RETURN(const SaveReport report, save_version(*saver, state, step));
      COHORT_RETURN_IF_ERROR(report.status);
      COHORT_RETURN_IF_ERROR(report.removal);
      COHORT_RETURN_IF_ERROR(restore_version(seat, disk, state, step));
      if (seat.index() != 0) continue;
      kept.emplace_back();
      for (const auto& name : value_or_throw(list_snapshots(disk, "run")))
        kept.back().push_back(static_cast<int>(*step_of(name)));
    }
    return {};
  });
  return kept;
}

using Steps = std::vector<std::vector<int>>;

TEST(SavingRetention, KeepsTheLast) {
  EXPECT_EQ(kept_steps({.folder = "run", .retention = {.last = 3, .best = 0}}),
            (Steps{{1}, {1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5, 6}, {5, 6, 7}, {6, 7, 8}}));
  EXPECT_EQ(kept_steps({.folder = "run", .retention = {.last = 1, .best = 0}}),
            (Steps{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}}));
}

TEST(SavingRetention, KeepsTheBaseOfTheNextDifference) {
  EXPECT_EQ(kept_steps({.folder = "run", .retention = {.last = 1, .best = 0}, .full_every = 3}),
            (Steps{{1}, {1, 2}, {1, 3}, {4}, {4, 5}, {4, 6}, {7}, {7, 8}}));
  EXPECT_EQ(kept_steps({.folder = "run", .retention = {.last = 2, .best = 0}, .full_every = 4}),
            (Steps{{1}, {1, 2}, {1, 2, 3}, {1, 3, 4}, {1, 4, 5}, {5, 6}, {5, 6, 7}, {5, 7, 8}}));
}

// A snapshot of a later step, which another run has left, is newer than those of this run.
TEST(SavingRetention, KeepsTheBaseBelowALaterStep) {
  MemoryFileSystem disk;
  Log log;
  run_script(1, disk, {.first = 900, .last = 900}, log);
  run_script(1, disk,
             {.first = 1,
              .last = 3,
              .options = {.folder = "run", .retention = {.last = 1, .best = 0}, .full_every = 9}},
             log);
  EXPECT_EQ(log.steps_done(), (std::vector{1, 2, 3, 900}));
  EXPECT_EQ(value_or_throw(list_snapshots(disk, "run")), (std::vector{snapshot_name(1), snapshot_name(900)}));
}

}  // namespace
}  // namespace cohort::test
