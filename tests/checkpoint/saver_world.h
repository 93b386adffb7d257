#pragma once

#include "checkpoint/rank_state.h"
#include "checkpoint/restore.h"
#include "checkpoint/saver.h"
#include "checkpoint/snapshot_folder.h"
#include "comm/conformance/message_passing_kind.h"
#include "comm/conformance/shared_memory_kind.h"
#include "state/move.h"

namespace cohort::test {

inline Kind network_kind_of(const std::string& name) {
  for (const NetworkKind& network : network_kinds()) {
    if (network.name == name) return message_passing_kind(network);
  }
  throw BugError("there is no network " + name);
}

/// Runs a body on ranks that are threads and share no memory. A rank that is alone has the communicator of a
/// host, whose calls need no other thread: on a busy machine each change of threads costs milliseconds.
inline void run_ranks(int world, const SeatBody& body) {
  static const Kind kLoopback = network_kind_of("loopback");
  static const Kind kAlone = shared_memory_kind("alone", InArena::kNobodys);
  const WorldOutcome outcome = (world == 1 ? kAlone : kLoopback).run(world, body, {});
  EXPECT_WORLD_OK(outcome);
}

/// The state of this rank in a layout; all ranks throw the same dice.
inline RankState own_layout(const Seat& seat, const std::vector<TestTensor>& tensors, std::uint64_t seed) {
  return random_layout(tensors, seed,
                       static_cast<std::size_t>(seat.size()))[static_cast<std::size_t>(seat.index())];
}

/// Saves a version of the state as the step of that number and waits; the report.
inline Result<checkpoint::SaveReport> save_version(checkpoint::Saver& saver, RankState& state, int version) {
  state.fill(version);
  checkpoint::Course course;
  course.position.step = version;
  COHORT_RETURN_IF_ERROR(saver.save(state.pieces(), course));
  state.fill(version + 1);  // the next step of training
  COHORT_RETURN_IF_ERROR(saver.finish());
  std::vector<checkpoint::SaveReport> reports = saver.take_reports();
  if (reports.size() != 1) return Error(ErrorCode::kBug, fmt::format("{} reports", reports.size()));
  return reports.front();
}

/// Fills the state from the newest snapshot that is whole; an error unless it is that of the step `version`.
inline Status restore_version(Seat& seat, FileSystem& files, RankState& state, int version) {
  COHORT_ASSIGN_OR_RETURN(const auto restored,
                          checkpoint::restore(*seat, files, {.folder = "run"},
                                              [&](const checkpoint::Manifest&) -> Result<std::vector<Piece>> {
                                                return state.pieces();
                                              }));
  if (!restored) return unexpected(seat, "nothing was restored");
  if (restored->course.position.step != version) return unexpected(seat, "restored {}", restored->name);
  const std::string wrong = state.first_wrong(version);
  return wrong.empty() ? Status() : unexpected(seat, "{} is wrong in version {}", wrong, version);
}

}  // namespace cohort::test
