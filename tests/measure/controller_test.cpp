#include "measure/controller.h"
#include "measure/contender.h"
#include "processes/roles.h"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cohort::measure {
namespace {

using namespace std::chrono_literals;
using test::RoleCall;

TimePoint soon(std::chrono::nanoseconds limit = 30s) {
  return deadline_after(std::chrono::steady_clock::now(), limit);
}

// Communicates with no other rank, so its results are right only for a gather in a world of one.
class Fake final : public Contender {
 public:
  explicit Fake(std::string manner) : manner_(std::move(manner)) {}

  Result<Memory> allocate(const std::string&, const BufferSizes& elements) override {
    if (manner_ == "limited") return Error(ErrorCode::kUnsupported, "no such kind");
    input_.assign(elements.input, 0);
    output_.assign(elements.output, 0);
    return Memory{.input = input_, .output = output_};
  }
  Status align() override { return {}; }
  Status perform(const Turn& turn) override {
    if (manner_ == "dies") ::raise(SIGKILL);
    while (manner_ == "hangs") ::pause();
    std::copy(turn.input.begin(), turn.input.end(), turn.output.begin());
    if (manner_ == "lies") turn.output[0] += 1;
    return {};
  }
  CallShape shape(BenchOperation, std::size_t elements, const Seat& seat) const override {
    return {.sizes = {.input = elements, .output = elements},
            .expected = {{.count = elements, .ranks = {seat.rank}}}};
  }

 private:
  const std::string manner_;
  std::vector<float> input_;
  std::vector<float> output_;
};

// `fake MANNER SOCKET`: a rank of the group 'fake'.
int fake(const RoleCall& call) {
  const std::string manner = call.args.at(0);
  LineSocket controller = value_or_throw(connect_lines(call.args.at(1)));
  if (manner == "rude") return controller.write_line("good day", soon()) ? 0 : 1;
  Fake contender(manner);
  if (manner == "sloppy") {
    static_cast<void>(controller.write_line(
        Hello{.group = "fake", .rank = call.rank, .ranks = call.world}.encode(), soon()));
    static_cast<void>(controller.read_line(soon()));
    static_cast<void>(controller.write_line("times 1:2", soon()));
  }
  return serve_controller(controller, contender, {.group = "fake", .rank = call.rank, .ranks = call.world})
             ? 0
             : 1;
}

// Two ranks; rank 0 always gives right results.
struct Pair {
  explicit Pair(const std::string& manner) {
    for (int rank = 0; rank < 2; ++rank) {
      processes.push_back(test::spawn_role(
          "fake", {.rank = rank, .world = 2, .args = {rank == 0 ? "honest" : manner, controller.name()}}));
    }
  }
  Status gather() {
    return controller.await("fake", 2, soon(), [&]() -> Status {
      for (Process& process : processes) {
        COHORT_ASSIGN_OR_RETURN(const auto ended, process.poll());
        if (ended) return Error(ErrorCode::kPeerLost, "a process ended");
      }
      return {};
    });
  }
  Result<std::vector<double>> run(TimePoint deadline) {
    return controller.run("fake",
                          {.operation = BenchOperation::kAllReduce,
                           .kind = "any",
                           .elements = 1009,
                           .iterations = 3,
                           .batch = 2},
                          deadline);
  }

  Controller controller = value_or_throw(Controller::open());
  std::vector<Process> processes{};
};

std::string failure_of(const std::string& manner, std::chrono::nanoseconds limit = 30s) {
  Pair pair(manner);
  const Status gathered = pair.gather();
  if (!gathered) return "not gathered: " + gathered.error().text();
  const auto samples = pair.run(soon(limit));
  return samples ? "none" : samples.error().text();
}

TEST(Controller, HonestRanksGiveOneTimePerSampleAndEndWhenTold) {
  Pair pair("honest");
  ASSERT_TRUE(pair.gather());
  for (int turn = 0; turn < 3; ++turn) {
    const auto samples = pair.run(soon());
    ASSERT_TRUE(samples) << samples.error().text();
    EXPECT_EQ(samples->size(), 3u);
  }
  pair.controller.end();
  for (Process& process : pair.processes) EXPECT_TRUE(process.wait(soon())->is_success());
}

TEST(Controller, ARankThatDiesIsNamed) {
  EXPECT_NE(failure_of("dies").find("rank 1 of 'fake' is gone"), std::string::npos);
}

TEST(Controller, ARankThatLiesIsNamedWithItsResult) {
  const std::string text = failure_of("lies");
  EXPECT_NE(text.find("rank 1 of 'fake': wrong result in call 0: element 0 is 38, expected 37"),
            std::string::npos)
      << text;
}

TEST(Controller, ARankThatHangsMeetsTheDeadline) {
  EXPECT_NE(failure_of("hangs", 200ms).find("rank 1 of 'fake' has not answered"), std::string::npos);
}

TEST(Controller, WrongCountsOfSamplesAreRefused) {
  EXPECT_NE(failure_of("sloppy").find("the answer has 1 samples, expected 3"), std::string::npos);
}

TEST(Controller, WhoCannotSaysSo) {
  Pair pair("limited");
  ASSERT_TRUE(pair.gather());
  EXPECT_EQ(pair.run(soon()).error().code(), ErrorCode::kUnsupported);
}

TEST(Controller, AGreetingThatIsNoneIsRefused) {
  EXPECT_NE(failure_of("rude").find("not gathered: 'good day' is not understood; expected a greeting"),
            std::string::npos);
}

TEST(Controller, WhoNeverComesMeetsTheDeadline) {
  Controller controller = value_or_throw(Controller::open());
  const Status gathered = controller.await("fake", 2, soon(100ms), [] { return Status(); });
  ASSERT_FALSE(gathered);
  EXPECT_EQ(gathered.error().text(), "0 of 2 ranks of 'fake' have reported");
}

TEST(Controller, AProcessThatEndedIsNotWaitedFor) {
  Controller controller = value_or_throw(Controller::open());
  const Status gathered =
      controller.await("fake", 2, soon(), [] { return Status(Error(ErrorCode::kPeerLost, "it ended")); });
  EXPECT_EQ(gathered.error().text(), "it ended");
}

TEST(Samples, TheRankThatTookLongestByCall) {
  const Times first{.intervals = {{.start_ns = 0, .end_ns = 100}, {.start_ns = 1000, .end_ns = 1100}}};
  const Times second{.intervals = {{.start_ns = 20, .end_ns = 90}, {.start_ns = 990, .end_ns = 1300}}};
  RunCommand command{.iterations = 2, .batch = 4};
  EXPECT_EQ(samples_of(command, {first, second}), (std::vector<double>{25, 77.5}));
  command.operation = BenchOperation::kSendReceive;
  EXPECT_EQ(samples_of(command, {first, second}), (std::vector<double>{12.5, 38.75}));
  EXPECT_EQ(samples_of(StepCommand{.steps = 2}, {first, second}), (std::vector<double>{100, 310}));
}

}  // namespace
}  // namespace cohort::measure

int main(int argc, char** argv) {
  return cohort::test::run_tests_or_role(argc, argv, {{"fake", cohort::measure::fake}});
}
