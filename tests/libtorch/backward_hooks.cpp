#include <gtest/gtest.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/nn.h>

namespace {

namespace autograd = torch::autograd;

// A network whose accumulators call `fired(index of the parameter)`.
struct Hooked {
  torch::nn::Sequential net{torch::nn::Linear(3, 4), torch::nn::ReLU(), torch::nn::Linear(4, 2)};
  std::vector<at::Tensor> parameters = net->parameters();
  std::vector<c10::intrusive_ptr<autograd::Node>> accumulators;

  explicit Hooked(const std::function<void(std::size_t)>& fired) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      accumulators.push_back(autograd::impl::grad_accumulator(parameters[i]));
      accumulators.back()->add_post_hook(std::make_unique<autograd::utils::LambdaPostHook>(
          [fired, i](const autograd::variable_list& out, const autograd::variable_list&) {
            fired(i);
            return out;
          }));
    }
  }

  at::Tensor loss() { return net->forward(at::ones({5, 3})).sum(); }
};

TEST(BackwardHooks, FireOncePerParameterInReverseLayerOrderWithTheGradientInPlace) {
  std::vector<std::size_t> order;
  Hooked* seen = nullptr;
  Hooked hooked([&](std::size_t i) {
    order.push_back(i);
    EXPECT_TRUE(seen->parameters[i].grad().defined());
  });
  seen = &hooked;
  hooked.loss().backward();
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.begin() + 2), (std::set<std::size_t>{2, 3}));
  EXPECT_EQ(std::set<std::size_t>(order.begin() + 2, order.end()), (std::set<std::size_t>{0, 1}));
}

TEST(BackwardHooks, ExceptionsKeepTheirTypeAndLeaveTheEngineUsable) {
  struct Planted : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  bool armed = true;
  Hooked hooked([&](std::size_t) {
    if (armed) throw Planted("in a hook");
  });
  EXPECT_THROW(hooked.loss().backward(), Planted);
  armed = false;
  hooked.net->zero_grad();
  hooked.loss().backward();
  EXPECT_TRUE(hooked.parameters[0].grad().defined());
}

TEST(BackwardHooks, ACallbackQueuedByTheRootRunsAfterEveryHook) {
  std::vector<std::string> order;
  Hooked hooked([&](std::size_t) { order.emplace_back("hook"); });
  at::Tensor loss = hooked.loss();
  loss.register_hook([&](const at::Tensor&) {
    autograd::Engine::get_default_engine().queue_callback([&] { order.emplace_back("end"); });
  });
  loss.backward();
  EXPECT_EQ(order, (std::vector<std::string>{"hook", "hook", "hook", "hook", "end"}));
}

TEST(BackwardHooks, GradientsKeepAliasingTheirBucket) {
  Hooked hooked([](std::size_t) {});
  const at::Tensor bucket = at::zeros({1000});
  std::int64_t offset = 0;
  std::vector<void*> addresses;
  for (at::Tensor& parameter : hooked.parameters) {
    parameter.mutable_grad() = bucket.narrow(0, offset, parameter.numel()).view_as(parameter).detach();
    addresses.push_back(parameter.grad().data_ptr());
    offset += parameter.numel();
  }
  hooked.loss().backward();
  hooked.loss().backward();
  for (std::size_t i = 0; i < addresses.size(); ++i)
    EXPECT_EQ(hooked.parameters[i].grad().data_ptr(), addresses[i]);
  EXPECT_EQ(bucket[offset - 1].item<float>(), 10.0f);  // the last bias: 5 rows, twice
  hooked.net->zero_grad(/*set_to_none=*/false);
  EXPECT_EQ(hooked.parameters[0].grad().data_ptr(), addresses[0]);
  EXPECT_EQ(bucket.abs().sum().item<float>(), 0.0f);
}

}  // namespace
