#include "measure/contender.h"

#include "base/system_error.h"

#include <chrono>
#include <fmt/format.h>
#include <sched.h>
#include <vector>

namespace cohort::measure {
namespace {

using namespace std::chrono_literals;

// Buffers of different calls share no cache line, and no pair of lines that is prefetched together.
constexpr std::size_t kSlotElements = 128 / sizeof(float);
constexpr auto kIdleLimit = 1h;
constexpr auto kAnswerLimit = 60s;

std::size_t slot_size(std::size_t elements) {
  return (elements + kSlotElements - 1) / kSlotElements * kSlotElements;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The buffers of one batch of calls, and their expected contents.
class Batch {
 public:
  Batch(Contender& contender, const RunCommand& command, int rank, int ranks)
      : contender_(contender), command_(command), rank_(rank), ranks_(ranks) {}

  Status allocate() {
    const BufferSizes one = shape(command_.salt).sizes;
    const BufferSizes all{.input = slot_size(one.input) * command_.batch,
                          .output = slot_size(one.output) * command_.batch};
    COHORT_ASSIGN_OR_RETURN(const Memory memory, contender_.allocate(command_.kind, all));
    for (std::size_t i = 0; i < command_.batch; ++i) {
      turns_.push_back({.operation = command_.operation,
                        .input = memory.input.subspan(i * slot_size(one.input), one.input),
                        .output = memory.output.subspan(i * slot_size(one.output), one.output)});
    }
    return {};
  }

  void rewrite(std::uint64_t salt) {
    for (Turn& turn : turns_) {
      turn.root = root_of(salt);
      write_values(turn.input, rank_, salt);
      if (shape(salt).before == Before::kOwnValues) {
        write_values(turn.output, rank_, salt);
      } else {
        write_poison(turn.output);
      }
      ++salt;
    }
  }

  Result<Interval> take_time() {
    Interval interval;
    COHORT_RETURN_IF_ERROR(contender_.align());
    interval.start_ns = now_ns();
    for (const Turn& turn : turns_) COHORT_RETURN_IF_ERROR(contender_.perform(turn));
    interval.end_ns = now_ns();
    return interval;
  }

  Status verify(std::uint64_t salt) const {
    for (const Turn& turn : turns_) {
      for (const Piece& piece : shape(salt).expected) {
        const auto mistake = find_mistake(turn.output, piece, salt);
        if (mistake) {
          return Error(ErrorCode::kCorrupt, fmt::format("wrong result in call {}: {}", salt, *mistake));
        }
      }
      ++salt;
    }
    return {};
  }

 private:
  int root_of(std::uint64_t salt) const {
    return static_cast<int>(salt % static_cast<std::uint64_t>(ranks_));
  }
  CallShape shape(std::uint64_t salt) const {
    return contender_.shape(command_.operation, command_.elements,
                            {.rank = rank_, .ranks = ranks_, .root = root_of(salt)});
  }

  Contender& contender_;
  const RunCommand& command_;
  const int rank_;
  const int ranks_;
  std::vector<Turn> turns_;
};

std::string answer_to(const std::string& line, Contender& contender, const Hello& hello) {
  const auto command = RunCommand::decode(line);
  if (!command) return Failed{command.error().text()}.encode();
  const auto times = measure_run(contender, *command, hello.rank, hello.ranks);
  if (times) return times->encode();
  if (times.error().code() == ErrorCode::kUnsupported) return Unsupported{times.error().text()}.encode();
  return Failed{times.error().text()}.encode();
}

}  // namespace

CallShape Contender::shape(BenchOperation operation, std::size_t elements, const Seat& seat) const {
  return call_shape(operation, elements, seat);
}

Result<Times> measure_run(Contender& contender, const RunCommand& command, int rank, int ranks) {
  Batch batch(contender, command, rank, ranks);
  COHORT_RETURN_IF_ERROR(batch.allocate());
  Times times;
  std::uint64_t salt = command.salt;
  for (std::uint32_t i = 0; i < command.iterations; ++i, salt += command.batch) {
    batch.rewrite(salt);
    COHORT_ASSIGN_OR_RETURN(const Interval interval, batch.take_time());
    COHORT_RETURN_IF_ERROR(batch.verify(salt));
    times.intervals.push_back(interval);
  }
  return times;
}

Status serve_lines(LineSocket& controller, const Hello& hello,
                   const std::function<std::string(const std::string& line)>& answer) {
  const auto after = [](std::chrono::nanoseconds limit) {
    return deadline_after(std::chrono::steady_clock::now(), limit);
  };
  COHORT_RETURN_IF_ERROR(controller.write_line(hello.encode(), after(kAnswerLimit)));
  while (true) {
    const auto line = controller.read_line(after(kIdleLimit));
    if (!line && line.error().code() == ErrorCode::kPeerLost) return {};
    COHORT_RETURN_IF_ERROR(line);
    if (*line == kEndLine) return {};
    COHORT_RETURN_IF_ERROR(controller.write_line(answer(*line), after(kAnswerLimit)));
  }
}

Status serve_controller(LineSocket& controller, Contender& contender, const Hello& hello) {
  return serve_lines(controller, hello,
                     [&](const std::string& line) { return answer_to(line, contender, hello); });
}

Status pin_to_core_of(int rank) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return system_error("cannot read the allowed cores", errno);
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  CPU_SET(cores[static_cast<std::size_t>(rank) % cores.size()], &wanted);
  if (::sched_setaffinity(0, sizeof wanted, &wanted) != 0) {
    return system_error("cannot pin this thread to a core", errno);
  }
  return {};
}

}  // namespace cohort::measure
