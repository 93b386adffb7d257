// One rank of a job with a fault. Usage: mpi_failure_test SCENARIO, then the flags of mpi_options().
//
//   kill  rank 2 is killed during a call; where MPI can continue, the other ranks do
//   late  rank 2 does not make a call; where MPI cannot revoke a call, the job ends with the cause

#include "mpi/communicator.h"
#include "mpi/own_mpi.h"

#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace cohort;
using namespace cohort::test;

constexpr int kVictim = 2;
constexpr int kRounds = 50;
constexpr std::size_t kCount = 100'003;

Error wrong(std::string what) {
  return Error(ErrorCode::kBug, std::move(what));
}

Status sum_ranks(Communicator& group) {
  std::vector<std::int64_t> numbers(kCount, group.rank() + 1);
  COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(numbers))));
  const std::int64_t expected = std::int64_t{group.size()} * (group.size() + 1) / 2;
  for (const std::int64_t number : numbers) {
    if (number != expected) return wrong(fmt::format("{} instead of {}", number, expected));
  }
  return {};
}

Status work_until_the_end(Communicator& group) {
  for (int round = 0;; ++round) {
    if (round == kRounds && group.rank() == kVictim) {
      std::vector<std::int64_t> numbers(
          kCount, kVictim + 1);  // must outlive the call, which may send all of it before the kill
      (void)group.start(all_reduce(std::span(numbers)));
      print_line("rank 2 kills itself");
      ::kill(::getpid(), SIGKILL);
    }
    COHORT_RETURN_IF_ERROR(sum_ranks(group));
  }
}

Status expect_loss(const Communicator& group, const Status& outcome) {
  if (outcome.error().code() != ErrorCode::kPeerLost) return outcome.error().within("expected kPeerLost");
  for (const std::string& word :
       {fmt::format("rank {}", group.rank()), fmt::format("rank {} has ended", kVictim),
        std::string("all_reduce of 100003 i64"), std::string("generation 3")}) {
    if (outcome.error().text().find(word) == std::string::npos) {
      return wrong(fmt::format("no '{}' in: {}", word, outcome.error().text()));
    }
  }
  return {};
}

Status go_on_without_the_victim() {
  COHORT_ASSIGN_OR_RETURN(
      auto group, mpi::MpiCommunicator::make_world(own_mpi().library,
                                                   {.generation = 3, .limit = std::chrono::seconds(10)}));
  if (!group->traits().abortable)
    return wrong("this MPI can continue after a loss, but traits() says not abortable");
  COHORT_RETURN_IF_ERROR(expect_loss(*group, work_until_the_end(*group)));
  const auto engine = group->mpi_engine();
  engine->end(Error(ErrorCode::kAborted, "the survivors go on"));
  COHORT_ASSIGN_OR_RETURN(
      const auto smaller,
      group->mpi_comm()->shrink(deadline_after(std::chrono::steady_clock::now(), std::chrono::seconds(10))));
  COHORT_RETURN_IF_ERROR(
      engine->close(Error(ErrorCode::kStale, "generation 3 is over"),
                    deadline_after(std::chrono::steady_clock::now(), std::chrono::seconds(5))));
  COHORT_ASSIGN_OR_RETURN(const auto survivors,
                          mpi::MpiCommunicator::adopt(own_mpi().library, smaller,
                                                      {.generation = 4, .limit = std::chrono::seconds(10)}));
  group.reset();
  if (survivors->generation() != 4 || survivors->size() != own_mpi().library->size() - 1) {
    return wrong(fmt::format("generation {}, {} ranks", survivors->generation(), survivors->size()));
  }
  for (int round = 0; round < kRounds; ++round) COHORT_RETURN_IF_ERROR(sum_ranks(*survivors));
  COHORT_ASSIGN_OR_RETURN(const auto half, survivors->split(survivors->rank() % 2, 0, "half"));
  COHORT_RETURN_IF_ERROR(sum_ranks(*half));
  return survivors->run(barrier());
}

// If MPI cannot continue, on_failure ends the job.
Status end_with_the_cause(std::string_view scenario) {
  COHORT_ASSIGN_OR_RETURN(
      const auto group,
      mpi::MpiCommunicator::make_world(own_mpi().library,
                                       {.limit = std::chrono::seconds(1),
                                        .on_failure = [](const Error& error) { end_job(error.text()); }}));
  if (group->traits().abortable)
    return wrong("this MPI cannot continue after a loss, but traits() says abortable");
  if (scenario != "late") return work_until_the_end(*group);
  COHORT_RETURN_IF_ERROR(group->run(barrier()));
  if (group->rank() == kVictim) ::sleep(30);  // the job ends long before
  COHORT_RETURN_IF_ERROR(sum_ranks(*group));
  return wrong("a call succeeded without rank 2");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string_view scenario = argv[1];
  const Result<mpi::LibraryOptions> options = mpi_options(argc - 1, argv + 1);
  if (!options) return 2;
  Result<std::shared_ptr<mpi::Library>> library = mpi::Library::load(*options);
  if (!library) return 2;
  own_mpi().library = *std::move(library);
  const bool goes_on = own_mpi().library->can_recover();
  const Status outcome = goes_on ? go_on_without_the_victim() : end_with_the_cause(scenario);
  if (!outcome) end_job(outcome.error().text());
  std::puts(fmt::format("rank {} went on", own_mpi().library->rank()).c_str());
  return own_mpi().library->finish() ? 0 : 1;
}
