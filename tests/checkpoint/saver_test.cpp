#include "checkpoint/saver.h"

#include "checkpoint/saver_world.h"
#include "checkpoint/watched_file_system.h"
#include "storage/content.h"
#include "storage/memory_file_system.h"

#include <algorithm>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <new>

namespace cohort::test {
namespace {

using checkpoint::Compression;
using checkpoint::list_snapshots;
using checkpoint::Saver;
using checkpoint::SaveReport;
using checkpoint::SaverOptions;
using checkpoint::snapshot_name;
using checkpoint::Writing;

using Names = std::vector<std::string>;

class Saving : public Conformance {};

std::vector<Kind> some_kinds() {
  return {shared_memory_kind("shared_memory", InArena::kNobodys), network_kind_of("loopback"),
          network_kind_of("hosts_of_two")};
}
INSTANTIATE_TEST_SUITE_P(Kinds, Saving, ::testing::ValuesIn(some_kinds()),
                         [](const ::testing::TestParamInfo<Kind>& kind) { return kind.param.name; });

// Four steps in a layout, of which two are differences, then two in another layout.
Status save_all(Seat& seat, FileSystem& files, const SaverOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const auto saver, Saver::make(*seat, files, options));
  const auto tensors = random_tensors(1);
  for (int version = 1; version <= 6; ++version) {
    RankState state = own_layout(seat, tensors, version <= 4 ? 10 : 20);
    COHORT_ASSIGN_OR_RETURN(const SaveReport report, save_version(*saver, state, version));
    COHORT_RETURN_IF_ERROR(report.status);
    RankState other = own_layout(seat, tensors, 100 + static_cast<std::uint64_t>(version));
    COHORT_RETURN_IF_ERROR(restore_version(seat, files, other, version));
    if (saver->last_step() != version) return unexpected(seat, "last step {}", *saver->last_step());
  }
  return {};
}

TEST_P(Saving, RestoresAnyLayout) {
  for (const int world : {1, 2, 3, 5}) {
    for (const Writing writing : {Writing::kBehind, Writing::kAtOnce}) {
      MemoryFileSystem files;
      run(world, [&](Seat& seat) {
        return save_all(seat, files,
                        {.folder = "run",
                         .writing = writing,
                         .compression = world == 2 ? Compression::kZstd : Compression::kNone,
                         .retention = {.last = 10},
                         .full_every = 3});
      });
      const auto kind_of = [&](int step) {
        return value_or_throw(checkpoint::read_manifest(files, "run/" + snapshot_name(step))).kind;
      };
      const auto full = checkpoint::SnapshotKind::kFull, difference = checkpoint::SnapshotKind::kDifference;
      EXPECT_EQ((std::vector{kind_of(1), kind_of(2), kind_of(3), kind_of(4), kind_of(5), kind_of(6)}),
                (std::vector{full, difference, difference, full, full, difference}));
    }
  }
}

// Snapshots of n ranks, restored by m.
TEST(SavingWorlds, RestoreTheSnapshotsOfEachOther) {
  const auto tensors = random_tensors(5);
  const std::vector<int> worlds =
      is_soak() ? std::vector{1, 2, 3, 4, 5, 6, 7, 8} : std::vector{1, 2, 3, 5, 8};
  for (const int from : worlds) {
    MemoryFileSystem files;
    run_ranks(from, [&](Seat& seat) -> Status {
      COHORT_ASSIGN_OR_RETURN(const auto saver, Saver::make(*seat, files, {.folder = "run"}));
      RankState state = own_layout(seat, tensors, 7);
      COHORT_ASSIGN_OR_RETURN(const SaveReport report, save_version(*saver, state, 1));
      return report.status;
    });
    for (const int to : worlds) {
      run_ranks(to, [&](Seat& seat) -> Status {
        RankState state = own_layout(seat, tensors, 8);
        return restore_version(seat, files, state, 1);
      });
    }
  }
}

// As with stages of a model: rank 0 has the first layer, rank 1 the second, rank 2 none.
TEST_P(Saving, OfRanksThatHaveDifferentTensors) {
  MemoryFileSystem files;
  run(3, [&](Seat& seat) -> Status {
    RankState state;
    if (seat.index() < 2) state.add({.name = fmt::format("layer{}", seat.index()), .shape = {7}}, whole({7}));
    COHORT_ASSIGN_OR_RETURN(const auto saver, Saver::make(*seat, files, {.folder = "run"}));
    COHORT_ASSIGN_OR_RETURN(const SaveReport report, save_version(*saver, state, 1));
    COHORT_RETURN_IF_ERROR(report.status);
    COHORT_RETURN_IF_ERROR(restore_version(seat, files, state, 1));
    RankState none;  // layer 1 is lost if rank 1 does not take it
    const Status lost = restore_version(seat, files, seat.index() == 1 ? none : state, 1);
    if (lost || lost.error().code() != ErrorCode::kUsage) return unexpected(seat, "a tensor was lost");
    return lost.error().text().find("'layer1'") != std::string::npos ? Status() : lost;
  });
}

Piece piece_of(const std::string& name, std::vector<float>& numbers, Merge merge) {
  return {.name = name,
          .shape = {numbers.size()},
          .mine = whole({numbers.size()}),
          .merge = merge,
          .bytes = std::as_writable_bytes(std::span(numbers))};
}

// Copies that differ are merged when they are saved, and stay what they are in memory.
TEST_P(Saving, MergesCopiesThatDiffer) {
  for (const Writing writing : {Writing::kBehind, Writing::kAtOnce}) {
    MemoryFileSystem files;
    run(3, [&](Seat& seat) -> Status {
      const auto r = static_cast<float>(seat.index());
      std::vector<float> mean{r, 3 * r, 7}, largest{r, -r}, sum{r + 1};
      const std::vector<float> before = mean;
      const std::vector<Piece> pieces{piece_of("mean", mean, Merge::kMean),
                                      piece_of("count", largest, Merge::kMax),
                                      piece_of("sum", sum, Merge::kSum)};
      COHORT_ASSIGN_OR_RETURN(
          const auto saver,
          Saver::make(*seat, files, {.folder = "run", .writing = writing, .full_every = 2}));
      for (int step = 1; step <= 2; ++step) {  // the second is a difference
        checkpoint::Course course;
        course.position.step = step;
        COHORT_RETURN_IF_ERROR(saver->save(pieces, course));
        COHORT_RETURN_IF_ERROR(saver->finish());
        COHORT_RETURN_IF_ERROR(saver->take_reports().at(0).status);
      }
      if (mean != before) return unexpected(seat, "the state was changed");
      mean = largest = {}, mean.resize(3), largest.resize(2), sum = {0};
      const std::vector<Piece> targets{piece_of("mean", mean, Merge::kMean),
                                       piece_of("count", largest, Merge::kMax),
                                       piece_of("sum", sum, Merge::kSum)};
      COHORT_ASSIGN_OR_RETURN(
          const auto restored,
          checkpoint::restore(
              *seat, files, {.folder = "run"},
              [&](const checkpoint::Manifest&) -> Result<std::vector<Piece>> { return targets; }));
      const bool is_right = mean == std::vector<float>{1, 3, 7} && largest == std::vector<float>{2, 0} &&
                            sum == std::vector<float>{6};
      return is_right ? Status() : unexpected(seat, "got {} {} {} {}", mean[0], mean[1], largest[0], sum[0]);
    });
  }
}

/// Memory that the ranks of each host share.
struct HostMemory {
  std::mutex mutex;
  std::map<int, std::vector<float>> by_host;

  std::span<float> of(int host, std::size_t count) {
    const std::lock_guard lock(mutex);
    auto& memory = by_host[host];
    memory.resize(count, -1);
    return memory;
  }
};

// Ranks of a host fill the memory that they share together. On a host of two, only one has the second tensor,
// and each has a slice of its own of the third.
TEST_P(Saving, FillsSharedMemoryTogether) {
  constexpr std::size_t kCount = 40;
  for (const int world : {1, 2, 3, 5}) {
    MemoryFileSystem disk;
    HostMemory first, second, third;
    run(world, [&](Seat& seat) -> Status {
      WatchedFileSystem files(disk);
      const std::vector<int> hosts = seat->hosts();
      const auto host = hosts.empty() ? seat.index() : hosts[static_cast<std::size_t>(seat.index())];
      const std::size_t half = seat.index() % 2 == 0 ? 0 : kCount / 2;
      const auto shared = [&](const std::string& name, std::span<float> memory, Slice mine) {
        return Piece{.name = name,
                     .shape = {kCount},
                     .mine = std::move(mine),
                     .bytes = std::as_writable_bytes(memory),
                     .memory = PieceMemory::kOfHost};
      };
      std::vector<Piece> pieces{shared("first", first.of(host, kCount), whole({kCount}))};
      if (seat.index() % 2 == 0) pieces.push_back(shared("second", second.of(host, kCount), whole({kCount})));
      const bool is_alone = hosts.empty() || std::count(hosts.begin(), hosts.end(), host) == 1;
      if (is_alone) {
        pieces.push_back(shared("third", third.of(host, kCount), whole({kCount})));
      } else {
        pieces.push_back(shared("third", third.of(host, kCount).subspan(half, kCount / 2),
                                flat_range({kCount}, half, kCount / 2)));
      }
      const auto is_first =
          hosts.empty() || std::find(hosts.begin(), hosts.end(), host) - hosts.begin() == seat.index();
      const auto fill = [&](float value) {
        if (!is_first) return;
        for (HostMemory* memory : {&first, &second, &third})
          std::ranges::fill(memory->of(host, kCount), value);
      };
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      fill(5);
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      COHORT_ASSIGN_OR_RETURN(const auto saver, Saver::make(*seat, files, {.folder = "run"}));
      COHORT_RETURN_IF_ERROR(saver->save(pieces, {}));
      COHORT_RETURN_IF_ERROR(saver->finish());
      COHORT_RETURN_IF_ERROR(saver->take_reports().at(0).status);
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      fill(-1);
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      COHORT_ASSIGN_OR_RETURN(
          const auto restored,
          checkpoint::restore(
              *seat, files, {.folder = "run"},
              [&](const checkpoint::Manifest&) -> Result<std::vector<Piece>> { return pieces; }));
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      for (const Piece& piece : pieces) {
        const auto numbers = std::span(reinterpret_cast<const float*>(piece.bytes.data()), piece.mine.count);
        for (const float number : numbers) {
          if (number != 5) return unexpected(seat, "'{}' has {}", piece.name, number);
        }
      }
      return {};
    });
  }
}

/// A disk that waits, at each write of one rank, until it is told to go on.
class Gate {
 public:
  explicit Gate(MemoryFileSystem& disk, std::string part_of_path)
      : part_of_path_(std::move(part_of_path)),
        files(disk, [this](const std::string& path) { return pass(path); }) {}

  void close() { set(false); }
  void open() { set(true); }
  void wait_until_reached() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return num_waiting_ > 0; });
  }

 private:
  void set(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }
  Status pass(const std::string& path) {
    if (path.find(part_of_path_) == std::string::npos) return {};
    std::unique_lock lock(mutex_);
    ++num_waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
    --num_waiting_;
    return {};
  }

  const std::string part_of_path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int num_waiting_ = 0;

 public:
  WatchedFileSystem files;
};

Status begin(Saver& saver, RankState& state, int version) {
  state.fill(version);
  checkpoint::Course course;
  course.position.step = version;
  return saver.save(state.pieces(), course);
}

// The disk of rank 1 is slow: training goes on, and the next snapshot is skipped by all.
TEST_P(Saving, GoesOnBehindTraining) {
  MemoryFileSystem disk;
  Gate gate(disk, "-00002-of-");
  run(3, [&](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto saver, Saver::make(*seat, gate.files, {.folder = "run"}));
    RankState state;
    state.add({.name = "w", .shape = {9}}, flat_range({9}, 3 * static_cast<std::size_t>(seat.index()), 3));
    COHORT_RETURN_IF_ERROR(begin(*saver, state, 1));
    gate.wait_until_reached();
    if (!saver->take_reports().empty()) return unexpected(seat, "a report before the write is over");
    COHORT_RETURN_IF_ERROR(begin(*saver, state, 2));
    const auto skipped = saver->take_reports();
    if (skipped.size() != 1 || !skipped[0].is_skipped || skipped[0].status || skipped[0].step != 2 ||
        saver->last_step() != 1) {
      return unexpected(seat, "not skipped");
    }
    COHORT_RETURN_IF_ERROR(seat.rank.barrier());
    if (!value_or_throw(list_snapshots(disk, "run")).empty()) return unexpected(seat, "complete too early");
    COHORT_RETURN_IF_ERROR(seat.rank.barrier());
    gate.open();
    COHORT_RETURN_IF_ERROR(saver->finish());
    const auto reports = saver->take_reports();
    if (reports.size() != 1 || reports[0].step != 1) return unexpected(seat, "{} reports", reports.size());
    COHORT_RETURN_IF_ERROR(reports[0].status);
    COHORT_RETURN_IF_ERROR(restore_version(seat, disk, state, 1));  // not what training wrote meanwhile
    COHORT_ASSIGN_OR_RETURN(const SaveReport next, save_version(*saver, state, 3));
    return next.status;
  });
}

// Rank 0 ends while the disk of rank 1 is slow: nobody waits for it, and no snapshot is completed.
TEST_P(Saving, EndsInTheMidstOfAWrite) {
  MemoryFileSystem disk;
  Gate gate(disk, "-00002-of-");
  run(3, [&](Seat& seat) -> Status {
    {
      COHORT_ASSIGN_OR_RETURN(const auto saver, Saver::make(*seat, gate.files, {.folder = "run"}));
      RankState state;
      state.add({.name = "w", .shape = {9}}, flat_range({9}, 3 * static_cast<std::size_t>(seat.index()), 3));
      COHORT_RETURN_IF_ERROR(begin(*saver, state, 1));
      gate.wait_until_reached();
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      if (seat.index() == 1) COHORT_RETURN_IF_ERROR(seat.rank.barrier());
    }
    if (seat.index() == 1) return {};
    if (seat.index() == 0) gate.open();
    return seat.rank.barrier();
  });
  EXPECT_EQ(value_or_throw(list_snapshots(disk, "run")), Names());
}

}  // namespace
}  // namespace cohort::test
