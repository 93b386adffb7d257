#include "gradients.h"
#include "small_models.h"
#include "training_world.h"

#include <cohort/data_parallel.h>
#include <cohort/trainer.h>

#include <gtest/gtest.h>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

// Children made by fork() have a copy of trainers, but not of their threads.

namespace cohort::test {
namespace {

// The wait status of a child that destroys its copy of the object. A child that hangs is ended by its alarm.
template <class T>
int status_of_child_that_destroys(std::unique_ptr<T>& object) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    object.reset();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(ForkedChild, DestroysNothingOfADataParallel) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    auto parallel = std::make_unique<DataParallel>(group, arena, *layer);
    mean_square(layer, share(group, 16)).backward();
    EXPECT_EQ(status_of_child_that_destroys(parallel), 0);
    layer->zero_grad();
    mean_square(layer, share(group, 16)).backward();
    EXPECT_EQ(gradients(*layer), gradients_of_all(16)) << "the ranks go on";
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(ForkedChild, DestroysNothingOfATrainer) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    auto trainer =
        std::make_unique<Trainer>(group, arena, layer.ptr(), squared_error(layer), exact_options());
    trainer->fit(std::make_shared<WholeNumbers>(32));
    EXPECT_EQ(status_of_child_that_destroys(trainer), 0);
    EXPECT_EQ(trainer->fit(std::make_shared<WholeNumbers>(32)).steps, 2) << "the ranks go on";
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
