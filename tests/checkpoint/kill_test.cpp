#include "checkpoint/saver_world.h"
#include "processes/roles.h"
#include "soak.h"
#include "storage/local_file_system.h"
#include "storage/temporary_directory.h"

#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <unistd.h>

// Processes that save to a real file system, and are killed at any moment.

namespace cohort::test {
namespace {

using checkpoint::list_snapshots;
using checkpoint::Saver;
using checkpoint::SaveReport;
using checkpoint::Snapshot;
using checkpoint::step_of;

RankState own_part(int rank, int world) {
  RankState state;
  const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(world);
  state.add({.name = "fc.weight", .shape = {10, 20}}, whole({10, 20}));
  state.add({.name = "fc.weight/exp_avg", .shape = {400}},
            flat_range({400}, 400 * r / n, 400 * (r + 1) / n - 400 * r / n));
  return state;
}

// Goes on from the newest snapshot, and says which steps are complete.
Status save_for_ever(Seat& seat, const std::string& folder) {
  LocalFileSystem files;
  RankState state = own_part(seat.index(), seat.size());
  COHORT_ASSIGN_OR_RETURN(
      const auto saver,
      Saver::make(*seat, files, {.folder = folder, .retention = {.last = 2}, .full_every = 3}));
  COHORT_ASSIGN_OR_RETURN(const auto restored,
                          checkpoint::restore(*seat, files, {.folder = folder},
                                              [&](const checkpoint::Manifest&) -> Result<std::vector<Piece>> {
                                                return state.pieces();
                                              }));
  int step = restored ? static_cast<int>(restored->course.position.step) : 0;
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const SaveReport report, save_version(*saver, state, ++step));
    COHORT_RETURN_IF_ERROR(report.status);
    const std::string line = fmt::format("{}\n", step);
    if (seat.index() == 0 && ::write(STDOUT_FILENO, line.data(), line.size()) < 0)
      return unexpected(seat, "no output");
  }
}

int saver_role(const RoleCall& call) {
  const WorldOutcome outcome =
      network_kind_of("loopback")
          .run(2, [&](Seat& seat) { return save_for_ever(seat, call.args.at(0)); }, {});
  return outcome.ok() ? 0 : (fmt::print(stderr, "{}\n", outcome.text()), 1);
}

int last_step_in(const std::string& output) {
  const auto end = output.rfind('\n');
  if (end == std::string::npos) return 0;
  const auto begin = output.rfind('\n', end - 1);
  return std::stoi(output.substr(begin == std::string::npos || end == 0 ? 0 : begin + 1));
}

// Every snapshot that is listed is whole; the step of the newest.
int newest_step(const std::string& folder) {
  LocalFileSystem files;
  int newest = 0;
  for (const std::string& name : value_or_throw(list_snapshots(files, folder))) {
    const auto snapshot = value_or_throw(Snapshot::open(files, folder, name));
    RankState state = own_part(0, 1);
    EXPECT_TRUE(state::move(state.pieces(), *snapshot)) << name;
    newest = static_cast<int>(*step_of(name));
    EXPECT_EQ(state.first_wrong(newest), "") << name;
  }
  return newest;
}

TEST(KilledSavers, LeaveWholeSnapshots) {
  const TemporaryDirectory directory;
  const std::string folder = directory.path() + "/a/run";
  std::mt19937_64 random(2024);
  int last = 0;
  for (int cycle = 0; cycle < rounds(25, 1500); ++cycle) {
    Process saver = spawn_role("saver", {.args = {folder}});
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % 120'000));  // the moment is what is tested
    ASSERT_TRUE(saver.signal(SIGKILL)) << saver.error_output().text;
    ASSERT_TRUE(saver.wait(std::chrono::steady_clock::now() + std::chrono::seconds(30)));
    const int newest = newest_step(folder);
    ASSERT_GE(newest, std::max(last, last_step_in(saver.output().text))) << "cycle " << cycle;
    last = newest;
    if (HasFailure()) FAIL() << "cycle " << cycle;
  }
  EXPECT_GT(last, 0);
  EXPECT_LE(std::distance(std::filesystem::directory_iterator(folder), {}), 5);
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  return cohort::test::run_tests_or_role(argc, argv, {{"saver", cohort::test::saver_role}});
}
