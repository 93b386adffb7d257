// One rank of the tests that mpirun or srun starts. Every rank runs every test, in the same order. Rank 0
// prints the progress, the others print only failures.

#include "mpi/own_mpi.h"

#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace {

using namespace cohort;
using namespace cohort::test;

constexpr int kSkipped = 77;

int refuse(const Error& error) {
  std::fputs(fmt::format("skipped: {}\n", error.text()).c_str(), stderr);
  return error.code() == ErrorCode::kNotFound ? kSkipped : 1;
}

class FailuresAlone final : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fputs(fmt::format("rank {}: {}\n", own_mpi().library->rank(), result.message()).c_str(), stderr);
  }
};

}  // namespace

int main(int argc, char** argv) {
  int num_of_tests = 0;  // the flags of GoogleTest come first
  while (num_of_tests + 1 < argc && std::string_view(argv[num_of_tests + 1]).starts_with("--gtest")) {
    ++num_of_tests;
  }
  const Result<mpi::LibraryOptions> options = mpi_options(argc - num_of_tests, argv + num_of_tests);
  if (!options) return refuse(options.error());
  Result<std::shared_ptr<mpi::Library>> library = mpi::Library::load(*options);
  if (!library) return refuse(library.error());
  own_mpi().library = *std::move(library);
  ::testing::InitGoogleTest(&argc, argv);
  if (own_mpi().library->rank() > 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresAlone);
  } else {
    fmt::print("{}, {} ranks, {}\n", own_mpi().library->text(), own_mpi().library->size(),
               own_mpi().library->can_recover() ? "continues after the loss of a rank"
                                                : "ends with the loss of a rank");
  }
  const int code = RUN_ALL_TESTS();
  if (const Status ended = own_mpi().library->finish(); !ended) return refuse(ended.error());
  return code;
}
