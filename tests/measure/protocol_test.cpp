#include "measure/protocol.h"

#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

TEST(Protocol, MessagesGoBothWays) {
  const Hello hello{.group = "memcpy", .rank = 1, .ranks = 2};
  EXPECT_EQ(hello.encode(), "hello memcpy 1 2");
  EXPECT_EQ(*Hello::decode(hello.encode()), hello);

  const RunCommand command{.operation = BenchOperation::kAllToAll,
                           .kind = "arena",
                           .elements = 16384,
                           .iterations = 20,
                           .batch = 4,
                           .salt = UINT64_MAX};
  EXPECT_EQ(command.encode(), "run all_to_all arena 16384 20 4 18446744073709551615");
  EXPECT_EQ(*RunCommand::decode(command.encode()), command);

  EXPECT_EQ(StepCommand{.steps = 7}.encode(), "steps 7");
  EXPECT_EQ(*StepCommand::decode("steps 7"), StepCommand{.steps = 7});
  const StateCommand state{.work = "save", .salt = 17};
  EXPECT_EQ(state.encode(), "state save 17");
  EXPECT_EQ(*StateCommand::decode("state save 17"), state);
  for (const char* line : {"state save", "state save -1", "state save 1 2", "steps save 1"}) {
    EXPECT_FALSE(StateCommand::decode(line)) << line;
  }

  const Times times{.intervals = {{.start_ns = 100, .end_ns = 250}, {.start_ns = 300, .end_ns = 300}}};
  EXPECT_EQ(times.encode(), "times 100:250 300:300");
  EXPECT_EQ(std::get<Times>(*decode_answer(times.encode())), times);
  EXPECT_EQ(std::get<Failed>(*decode_answer(Failed{"wrong\nresult"}.encode())).reason, "wrong result");
  EXPECT_EQ(std::get<Unsupported>(*decode_answer("unsupported no scatter")).reason, "no scatter");
}

TEST(Protocol, WhatIsNoMessageIsRefused) {
  for (const char* line : {"", "hello", "hello a 0", "hello a 2 2", "hello a -1 2", "hello a 0 0",
                           "hello a 0 2 3", "run a 0 2"}) {
    EXPECT_FALSE(Hello::decode(line)) << line;
  }
  for (const char* line :
       {"", "run", "run all_reduce arena 1 1 1", "run dance arena 1 1 1 0", "run all_reduce arena 1 0 1 0",
        "run all_reduce arena 1 1 0 0", "run all_reduce arena x 1 1 0", "run all_reduce arena 1 1 1 0 0",
        "run all_reduce arena 1 10001 1 0", "run all_reduce arena 99999999999999 1 1 0"}) {
    EXPECT_FALSE(RunCommand::decode(line)) << line;
  }
  for (const char* line : {"", "steps", "steps 0", "steps x", "steps 10001", "steps 1 1", "step 1"}) {
    EXPECT_FALSE(StepCommand::decode(line)) << line;
  }
  for (const char* line : {"", "time 1:2", "times 1", "times 2:1", "times 1:2x", "times -1:2", "times 1:"}) {
    EXPECT_FALSE(decode_answer(line)) << line;
  }
}

}  // namespace
}  // namespace cohort::measure
