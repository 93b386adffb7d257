// The time that Cohort adds to an all_reduce of MPI. One run measures MPI's own blocking call and the same
// call through an MpiCommunicator, in turns. mpirun starts it:
//
//   mpirun -np 2 cohort-mpi-overhead openmpi|mpich SHIM_DIRECTORY [LIBMPI]

#include "mpi/communicator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <vector>

namespace {

using namespace cohort;
using std::chrono::steady_clock;

constexpr std::size_t kSizes[] = {4, 1024, 16 << 10, 256 << 10, 1 << 20, 4 << 20, 32 << 20};
constexpr int kBatches = 41;

void must(const Status& status) {
  if (status) return;
  std::fputs((status.error().text() + "\n").c_str(), stderr);
  std::exit(1);
}

// Nanoseconds per call, averaged over one batch.
double time_of(int repetitions, const std::function<void()>& barrier, const std::function<void()>& call) {
  barrier();
  const auto begin = steady_clock::now();
  for (int i = 0; i < repetitions; ++i) call();
  const std::chrono::duration<double, std::nano> time = steady_clock::now() - begin;
  return time.count() / repetitions;
}

double median(std::vector<double>& times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

struct Contestants {
  mpi::Library& library;
  Communicator& group;
};

void compare(const Contestants& with, std::size_t size_bytes) {
  std::vector<float> numbers(size_bytes / sizeof(float), 0.0F);
  CohortMpiCollective bare{};
  bare.comm = with.library.shim().world();
  bare.operation = kCohortMpiAllReduce;
  bare.type = kCohortMpiF32;
  bare.input = COHORT_MPI_IN_PLACE;
  bare.output = numbers.data();
  bare.input_count = bare.output_count = static_cast<int>(numbers.size());
  CohortMpiCollective meeting{};
  meeting.comm = bare.comm;
  const auto barrier = [&] { with.library.shim().run(&meeting); };
  const auto own = [&] { must(with.group.run(all_reduce(std::span(numbers)))); };
  const int repetitions = static_cast<int>(std::clamp<std::size_t>((1 << 20) / size_bytes, 1, 200));
  std::vector<double> of_bare, of_cohort;
  for (int i = 0; i < kBatches; ++i) {
    of_bare.push_back(time_of(repetitions, barrier, [&] { with.library.shim().run(&bare); }));
    of_cohort.push_back(time_of(repetitions, barrier, own));
  }
  if (with.library.rank() > 0) return;
  const double base = median(of_bare);
  const double cohort = median(of_cohort);
  fmt::print("{:>10} {:>12.2f} {:>12.2f} {:>8.3f}\n", size_bytes, base / 1e3, cohort / 1e3, cohort / base);
}

std::unique_ptr<mpi::MpiCommunicator> world_of(const std::shared_ptr<mpi::Library>& library) {
  auto made = mpi::MpiCommunicator::make_world(library, {.on_failure = [](const Error&) { std::_Exit(1); }});
  if (!made) must(made.error());
  return *std::move(made);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  auto loaded = mpi::Library::load({.implementation = std::string_view(argv[1]) == "mpich"
                                                          ? mpi::Implementation::kMpich
                                                          : mpi::Implementation::kOpenMpi,
                                    .shim_directory = argv[2],
                                    .library = argc > 3 ? argv[3] : ""});
  if (!loaded) must(loaded.error());
  const std::shared_ptr<mpi::Library> library = *loaded;
  {
    const auto group = world_of(library);
    if (library->rank() == 0) {
      fmt::print("{}, {} ranks, all_reduce of f32, medians of {} batches in µs\n", library->text(),
                 library->size(), kBatches);
      fmt::print("{:>10} {:>12} {:>12} {:>8}\n", "bytes", "MPI", "Cohort", "ratio");
    }
    for (const std::size_t size : kSizes) compare({*library, *group}, size);
    must(group->run(barrier()));
  }
  must(library->finish());
  return 0;
}
