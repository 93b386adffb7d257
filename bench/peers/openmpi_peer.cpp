// One rank of the peer 'openmpi' of `cohort bench comm`: started by mpirun, measured by the same loop as
// every other participant.

#include "measure/contender.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <mpi.h>
#include <vector>

namespace cohort::measure {
namespace {

int count_of(std::span<const float> numbers) {
  return static_cast<int>(numbers.size());
}

Status status_of(int code) {
  if (code == MPI_SUCCESS) return {};
  std::vector<char> text(MPI_MAX_ERROR_STRING);
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return Error(ErrorCode::kIo,
               fmt::format("MPI: {}", std::string(text.data(), static_cast<std::size_t>(length))));
}

class MpiContender final : public Contender {
 public:
  MpiContender(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  Result<Memory> allocate(const std::string&, const BufferSizes& elements) override {
    if (input_.size() != elements.input) input_ = std::vector<float>(elements.input);
    if (output_.size() != elements.output) output_ = std::vector<float>(elements.output);
    return Memory{.input = input_, .output = output_};
  }

  Status align() override { return status_of(MPI_Barrier(MPI_COMM_WORLD)); }

  Status perform(const Turn& turn) override { return status_of(call(turn)); }

 private:
  int call(const Turn& turn) {
    float* const in = turn.input.data();
    float* const out = turn.output.data();
    const int in_count = count_of(turn.input);
    const int out_count = count_of(turn.output);
    const MPI_Comm world = MPI_COMM_WORLD;
    switch (turn.operation) {
      case BenchOperation::kAllReduce:
        return MPI_Allreduce(MPI_IN_PLACE, out, out_count, MPI_FLOAT, MPI_SUM, world);
      case BenchOperation::kReduceScatter:
        return MPI_Reduce_scatter_block(in, out, out_count, MPI_FLOAT, MPI_SUM, world);
      case BenchOperation::kAllGather:
        return MPI_Allgather(in, in_count, MPI_FLOAT, out, in_count, MPI_FLOAT, world);
      case BenchOperation::kBroadcast:
        return MPI_Bcast(out, out_count, MPI_FLOAT, turn.root, world);
      case BenchOperation::kAllToAll:
        return MPI_Alltoall(in, in_count / ranks_, MPI_FLOAT, out, out_count / ranks_, MPI_FLOAT, world);
      case BenchOperation::kReduce:
        return MPI_Reduce(in, out, in_count, MPI_FLOAT, MPI_SUM, turn.root, world);
      case BenchOperation::kGather:
        return MPI_Gather(in, in_count, MPI_FLOAT, out, in_count, MPI_FLOAT, turn.root, world);
      case BenchOperation::kScatter:
        return MPI_Scatter(in, out_count, MPI_FLOAT, out, out_count, MPI_FLOAT, turn.root, world);
      case BenchOperation::kBarrier:
        return MPI_Barrier(world);
      case BenchOperation::kSendReceive:
        return ping_pong(turn);
    }
    return MPI_ERR_OTHER;
  }

  int ping_pong(const Turn& turn) {
    const int other = partner_of(rank_, ranks_);
    if (other == rank_) return MPI_SUCCESS;
    const auto send = [&] {
      return MPI_Send(turn.input.data(), count_of(turn.input), MPI_FLOAT, other, 0, MPI_COMM_WORLD);
    };
    const auto receive = [&] {
      return MPI_Recv(turn.output.data(), count_of(turn.output), MPI_FLOAT, other, 0, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE);
    };
    const int first = rank_ % 2 == 0 ? send() : receive();
    if (first != MPI_SUCCESS) return first;
    return rank_ % 2 == 0 ? receive() : send();
  }

  const int rank_;
  const int ranks_;
  std::vector<float> input_;
  std::vector<float> output_;
};

Status take_part() {
  const char* const control = std::getenv(kControlVariable);
  if (control == nullptr) {
    return Error(ErrorCode::kUsage, "this program is started by `cohort bench comm --against openmpi`");
  }
  Hello hello{.group = "openmpi"};
  MPI_Comm_rank(MPI_COMM_WORLD, &hello.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &hello.ranks);
  COHORT_ASSIGN_OR_RETURN(LineSocket controller, connect_lines(control));
  MpiContender contender(hello.rank, hello.ranks);
  return serve_controller(controller, contender, hello);
}

}  // namespace
}  // namespace cohort::measure

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const cohort::Status ended = cohort::measure::take_part();
  if (!ended) std::fprintf(stderr, "cohort-bench-openmpi: %s\n", ended.error().text().c_str());
  MPI_Finalize();
  return ended ? 0 : 1;
}
