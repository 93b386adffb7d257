#include "comm/group/communicator.h"
#include "copies/neighbour_copies.h"
#include "layout/slice.h"
#include "measure/statistics.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cohort/context.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// Keeping the state of Adam and plain memcpy() of the same bytes by turns. Parameters are alike on all ranks,
// moments are sliced, as in data-parallel training. All ranks begin each turn together.

namespace cohort::bench {
namespace {

struct Settings {
  std::size_t num_elements = 23'000'000;
  std::size_t num_tensors = 100;
  int rounds = 31;
};

class State {
 public:
  State(const Settings& settings, Arena& arena, std::size_t rank, std::size_t world) : arena_(arena) {
    const std::size_t length = settings.num_elements / settings.num_tensors;
    for (std::size_t t = 0; t < settings.num_tensors; ++t) {
      const std::string name = "tensor" + std::to_string(t);
      const std::size_t first = length * rank / world, end = length * (rank + 1) / world;
      add(name, length, 0, length, PieceMemory::kOfHost);
      add(name + "/exp_avg", length, first, end - first, PieceMemory::kOwn);
      add(name + "/exp_avg_sq", length, first, end - first, PieceMemory::kOwn);
    }
    copied_bytes_ = settings.num_tensors * (length / world + 2 * (length / world)) * sizeof(float);
  }

  std::span<const Piece> pieces() const { return pieces_; }
  std::size_t copied_bytes() const { return copied_bytes_; }

 private:
  void add(const std::string& name, std::size_t length, std::size_t first, std::size_t count,
           PieceMemory memory) {
    blocks_.push_back(value_or_throw(arena_.allocate(count * sizeof(float))));
    pieces_.push_back({.name = name,
                       .shape = {length},
                       .mine = flat_range({length}, first, count),
                       .bytes = blocks_.back().bytes().first(count * sizeof(float)),
                       .memory = memory});
  }

  Arena& arena_;
  std::vector<ArenaBlock> blocks_;
  std::vector<Piece> pieces_;
  std::size_t copied_bytes_ = 0;
};

template <class Body>
double nanoseconds_of(Communicator& group, const Body& body) {
  value_or_throw(group.run(barrier()));
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// The same bytes, tensor by tensor, from the same memory.
void copy_plainly(const State& state, std::vector<std::byte>& to) {
  std::size_t done = 0;
  for (const Piece& piece : state.pieces()) {
    const std::size_t count = std::min(piece.bytes.size(), to.size() - done);
    std::memcpy(to.data() + done, piece.bytes.data(), count);
    done += count;
  }
}

void print(const char* what, const std::vector<double>& times, std::size_t size_bytes) {
  const auto summary = measure::summarize(times);
  std::printf("%-14s %9.2f ms (best decile) %9.2f ms (median) %7.2f GB/s\n", what, summary.p10_ns / 1e6,
              summary.p50_ns / 1e6, static_cast<double>(size_bytes) / summary.p50_ns);
}

int run(int argc, char** argv) {
  CLI::App app("Copies of a training state in memory, beside memcpy() of the same bytes.");
  Settings settings;
  app.add_option("--elements", settings.num_elements, "How many f32 parameters")->check(CLI::PositiveNumber);
  app.add_option("--tensors", settings.num_tensors, "In how many tensors")->check(CLI::PositiveNumber);
  app.add_option("--rounds", settings.rounds, "How often each is measured")->check(CLI::Range(5, 10'000));
  CLI11_PARSE(app, argc, argv);

  Context context;
  Communicator& group = context.communicator();
  const State state(settings, context.arena(), static_cast<std::size_t>(group.rank()),
                    static_cast<std::size_t>(group.size()));
  std::vector<std::byte> plain(state.copied_bytes());
  NeighbourCopies copies(context.arena());
  value_or_throw(copies.join(group));
  std::vector<double> kept, copied;
  for (int round = -2; round < settings.rounds; ++round) {
    const double ours = nanoseconds_of(group, [&] { value_or_throw(copies.keep(round, state.pieces())); });
    const double theirs = nanoseconds_of(group, [&] { copy_plainly(state, plain); });
    if (round < 0) continue;  // plans, and touches pages
    kept.push_back(ours);
    copied.push_back(theirs);
  }
  value_or_throw(copies.settle());
  if (group.rank() == 0) {
    std::printf("%d ranks, %.1f MB each\n", group.size(), static_cast<double>(state.copied_bytes()) / 1e6);
    print("keep", kept, state.copied_bytes());
    print("memcpy", copied, state.copied_bytes());
  }
  return 0;
}

}  // namespace
}  // namespace cohort::bench

int main(int argc, char** argv) try {
  return cohort::bench::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "cohort-bench-copies: %s\n", error.what());
  return 1;
}
