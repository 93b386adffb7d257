// Every call of the public API that ranks make together, by <cohort/cohort.h> alone. Started as several
// ranks; ends with 0 if every result is right.
#include <cohort/cohort.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <stdexcept>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>
#include <vector>

namespace {

using Floats = std::vector<float>;

template <class A, class B>
void expect_equal(const A& found, const B& expected, const std::string& what) {
  if (!(found == expected)) throw std::runtime_error(what + " is wrong");
}

// The numbers first, first + 1, …
Floats counted(int count, int first) {
  Floats numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(static_cast<float>(first + i));
  return numbers;
}

void check_blocking_calls(cohort::Group& group) {
  const int n = group.size(), me = group.rank();
  Floats sums(5, static_cast<float>(me + 1));
  group.all_reduce(sums);
  expect_equal(sums, Floats(5, static_cast<float>(n * (n + 1) / 2)), "all_reduce");
  Floats own = counted(3, me), root(3);
  group.reduce(own, root, n - 1, cohort::ReduceOp::kMax);
  if (me == n - 1) expect_equal(root, counted(3, n - 1), "reduce");
  std::array<int, 2> both = {me, -me};
  group.broadcast(both, n - 1);
  expect_equal(both, (std::array<int, 2>{n - 1, 1 - n}), "broadcast");
  Floats all(static_cast<std::size_t>(2 * n)), mine(2);
  const Floats two = counted(2, 2 * me);
  group.all_gather(two, all);
  expect_equal(all, counted(2 * n, 0), "all_gather");
  group.reduce_scatter(all, mine, cohort::ReduceOp::kMean);
  expect_equal(mine, counted(2, 2 * me), "reduce_scatter");
  Floats gathered(all.size());
  group.gather(mine, gathered, 0);
  if (me == 0) expect_equal(gathered, all, "gather");
  group.scatter(all, mine, 0);
  expect_equal(mine, counted(2, 2 * me), "scatter");
  Floats swapped(static_cast<std::size_t>(n));
  const Floats same(static_cast<std::size_t>(n), static_cast<float>(me));
  group.all_to_all(same, swapped);
  expect_equal(swapped, counted(n, 0), "all_to_all");
  group.barrier();
}

void check_calls_in_the_background(cohort::Group& group) {
  const int n = group.size(), me = group.rank();
  Floats sums(1000, static_cast<float>(me + 1)),
      own = counted(3, me), most(3), all(static_cast<std::size_t>(n)), mine(1), gathered(all.size()),
      scattered(1), swapped(all.size());
  std::array<float, 1> one{static_cast<float>(me)};
  std::array<int, 1> from_last{me};
  std::vector<cohort::Work> works;
  works.push_back(group.async_all_reduce(sums));
  works.push_back(group.async_reduce(own, most, 0, cohort::ReduceOp::kMax));
  works.push_back(group.async_broadcast(from_last, n - 1));
  works.push_back(group.async_all_gather(one, all));
  works.push_back(group.async_barrier());
  for (const cohort::Work& work : works) work.wait();
  expect_equal(sums, Floats(1000, static_cast<float>(n * (n + 1) / 2)), "async_all_reduce");
  if (me == 0) expect_equal(most, counted(3, n - 1), "async_reduce");
  expect_equal(from_last[0], n - 1, "async_broadcast");
  expect_equal(all, counted(n, 0), "async_all_gather");
  group.async_reduce_scatter(all, mine, cohort::ReduceOp::kMean).wait();
  group.async_gather(one, gathered, 0).wait();
  group.async_scatter(all, scattered, 0).wait();
  const Floats same(all.size(), one[0]);
  const cohort::Work last = group.async_all_to_all(same, swapped);
  while (!last.wait_for(std::chrono::milliseconds(1))) {
  }
  expect_equal(last.is_done(), true, "is_done");
  expect_equal(mine, Floats{one[0]}, "async_reduce_scatter");
  if (me == 0) expect_equal(gathered, all, "async_gather");
  expect_equal(scattered, Floats{one[0]}, "async_scatter");
  expect_equal(swapped, counted(n, 0), "async_all_to_all");
}

void check_messages(cohort::Group& group) {
  const int n = group.size(), me = group.rank();
  if (n == 1) return;  // a rank sends nothing to itself
  const int next = (me + 1) % n, before = (me + n - 1) % n;
  Floats got(4);
  const Floats own = counted(4, me);
  const cohort::Work sent = group.async_send(own, next, 7);
  group.async_recv(got, before, 7).wait();
  sent.wait();
  expect_equal(got, counted(4, before), "async_send and async_recv");
  at::Tensor arrived = at::zeros({2});
  if (me == 0) {
    int sum = 0;
    for (int i = 1; i < n; ++i) {
      const int from = group.recv_any(got, 9);
      expect_equal(got, counted(4, from), "recv_any");
      sum += from;
    }
    expect_equal(sum, n * (n - 1) / 2, "the ranks that recv_any returned");
    group.send(at::full({2}, 3.0), n - 1);
  } else {
    group.send(own, 0, 9);
  }
  if (me == n - 1) {
    group.recv(arrived, 0);
    expect_equal(at::equal(arrived, at::full({2}, 3.0)), true, "send and recv of tensors");
  }
}

void check_tensors(cohort::Context& context) {
  const int n = context.size(), me = context.rank();
  const at::Tensor rows = at::arange(2 * n + 1);
  const at::Tensor part = context.part_of(rows);
  at::Tensor counts = at::zeros({n}, at::kLong);
  counts[me] = part.size(0);
  context.all_reduce(counts);
  expect_equal(counts.sum().item<std::int64_t>(), rows.size(0), "the number of rows in all parts");
  expect_equal((counts.max() - counts.min()).item<std::int64_t>() <= 1, true, "part_of");
  at::Tensor total = part.sum();
  context.async_all_reduce(total).wait();
  expect_equal(total.item<std::int64_t>(), rows.sum().item<std::int64_t>(), "the sum over all parts");
  const at::Tensor every = context.all_gather(at::full({2}, me));
  expect_equal(every.sizes() == at::IntArrayRef({n, 2}), true, "all_gather of tensors");
  const at::Tensor shared = context.allocate_like(at::ones({3}));
  shared.fill_(1);
  context.all_reduce(shared);
  expect_equal(shared.sum().item<double>(), 3.0 * n, "all_reduce in the arena");
}

void check_groups(cohort::Context& context) {
  const int n = context.size(), me = context.rank();
  std::optional<cohort::Group> half = context.split(me % 2);
  expect_equal(half->size(), me % 2 == 0 ? (n + 1) / 2 : n / 2, "the size of a split");
  check_blocking_calls(*half);
  expect_equal(context.split(me == 0 ? std::optional(0) : std::nullopt).has_value(), me == 0,
               "a rank without colour");
  cohort::Group row = context.along({1}, {1, n});
  check_calls_in_the_background(row);
  expect_equal(context.along({0}, {1, n}).size(), 1, "the size of a column");
}

// The group that is aborted fails on all ranks; the others go on.
void check_abort(cohort::Context& context) {
  std::optional<cohort::Group> doomed = context.split(0, 0, "doomed");
  if (context.size() > 1) {
    Floats sums(3);
    if (context.rank() == 0) doomed->abort("planted");
    try {
      if (context.rank() != 0) doomed->all_reduce(sums);
    } catch (const cohort::Error& error) {
      expect_equal(error.text().find("planted") != std::string::npos, true, "the reason of an abort");
      sums.clear();
    }
    if (context.rank() != 0) expect_equal(sums.empty(), true, "an abort");
  }
  check_blocking_calls(context);
}

// Rank 0 has taken steps; the others have not. Afterwards a step gives the same numbers on all ranks.
void check_broadcast_state(cohort::Context& context) {
  torch::manual_seed(static_cast<std::uint64_t>(context.rank()));
  torch::nn::Linear net(3, 2);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(context.rank() == 0 ? 0.1 : 0.5));
  const auto step = [&] {
    optimizer.zero_grad();
    net->forward(at::ones({1, 3})).square().sum().backward();
    optimizer.step();
  };
  if (context.rank() == 0) {
    for (int i = 0; i < 3; ++i) step();
  }
  cohort::broadcast_state(context, *net, optimizer);
  step();
  const at::Tensor all = context.all_gather(net->weight.detach().contiguous());
  for (int rank = 1; rank < context.size(); ++rank) {
    expect_equal(at::equal(all[rank], all[0]), true, "the step after broadcast_state");
  }
}

// A loop of the user with DataParallel: its state, written to a new module and a new optimizer, makes the
// same step there.
void check_visit_state(cohort::Context& context) {
  torch::manual_seed(1);
  torch::nn::Linear net(3, 2), other(3, 2);
  cohort::DataParallel parallel(context, *net), other_parallel(context, *other);
  torch::optim::Adam optimizer(net->parameters()), fresh(other->parameters());
  const auto step = [](torch::nn::Linear& of, torch::optim::Adam& by) {
    by.zero_grad();
    of->forward(at::ones({1, 3})).square().sum().backward();
    by.step();
  };
  for (int i = 0; i < 3; ++i) step(net, optimizer);
  std::map<std::string, std::vector<std::byte>> state;
  cohort::visit_state(*net, optimizer, [&](const cohort::Piece& piece) {
    state[piece.name] = {piece.bytes.begin(), piece.bytes.end()};
  });
  cohort::visit_state(*other, fresh, [&](const cohort::Piece& piece) {
    std::copy(state.at(piece.name).begin(), state.at(piece.name).end(), piece.bytes.begin());
  });
  step(net, optimizer);
  step(other, fresh);
  expect_equal(at::equal(net->weight, other->weight), true, "the step after visit_state");
  expect_equal(state.count("weight/exp_avg_sq"), std::size_t{1}, "the names of pieces");
}

struct Ones : cohort::Dataset {
  std::int64_t size() const override { return 8; }
  cohort::Sample at(std::int64_t) const override { return {at::ones({3}), at::ones({2})}; }
};

// A trainer, a DataParallel and a group that are used after their Context is gone.
void check_that_users_outlive(std::unique_ptr<cohort::Context> context) {
  torch::nn::Linear net(3, 2), other(3, 2);
  const auto loss = [&](const cohort::Batch& batch) {
    return (net->forward(batch.input) - batch.target).square().mean();
  };
  cohort::Trainer trainer(*context, net.ptr(), cohort::mean_loss(loss), {.batch_size = 4});
  const cohort::Stages stages({torch::nn::Linear(3, 4), torch::nn::Tanh(), torch::nn::Linear(4, 2)});
  torch::optim::SGD optimizer(stages.module()->parameters(), 0.1);
  const auto loss_of_output = [](const at::Tensor& output, const cohort::Batch& batch) {
    return (output - batch.target).square().mean();
  };
  cohort::Trainer staged(*context, stages, cohort::mean_loss(loss_of_output), optimizer, {.batch_size = 4});
  cohort::DataParallel parallel(*context, *other);
  cohort::Group group = *context->split(0);
  context.reset();
  expect_equal(trainer.fit(std::make_shared<Ones>()).steps, 2, "the number of steps after the Context");
  expect_equal(staged.fit(std::make_shared<Ones>()).steps, 2, "the number of steps of stages");
  other->forward(at::ones({1, 3})).sum().backward();
  check_blocking_calls(group);
}

// A trainer of an earlier generation is refused by its number; one of the present generation trains.
void check_generations(cohort::Context& context) {
  torch::nn::Linear old_net(3, 2), new_net(3, 2);
  const auto loss_of = [](torch::nn::Linear net) {
    return cohort::mean_loss([net](const cohort::Batch& batch) mutable {
      return (net->forward(batch.input) - batch.target).square().mean();
    });
  };
  cohort::Trainer old_trainer(context, old_net.ptr(), loss_of(old_net), {.batch_size = 4});
  expect_equal(old_trainer.fit(std::make_shared<Ones>()).steps, 2, "the number of steps");
  context.form(context.members());
  expect_equal(context.generation(), 1u, "the generation");
  expect_equal(context.role() == cohort::Role::kWorker, true, "the role");
  try {
    (void)old_trainer.fit(std::make_shared<Ones>());
    throw std::runtime_error("a trainer of an earlier generation has trained");
  } catch (const cohort::Error& error) {
    if (error.code() != cohort::ErrorCode::kStale) throw;
  }
  cohort::Trainer new_trainer(context, new_net.ptr(), loss_of(new_net), {.batch_size = 4});
  expect_equal(new_trainer.fit(std::make_shared<Ones>()).steps, 2, "the number of steps after form()");
}

// Settings are enumerations, and have the names that job files use.
void check_settings() {
  const cohort::LinkSettings settings{.backend = cohort::Backend::kAuto,
                                      .algorithm = cohort::CollectiveAlgorithm::kRing,
                                      .wire = cohort::WireDType::kBFloat16};
  expect_equal(settings.chunk_bytes.has_value() || settings.sockets.has_value(), false, "an unset setting");
  expect_equal(cohort::name(*settings.algorithm), "ring", "the name of an algorithm");
  expect_equal(cohort::collective_algorithm_named("ring"), settings.algorithm, "an algorithm by its name");
  expect_equal(cohort::name(*settings.wire), "bf16", "the name of a wire type");
  expect_equal(cohort::wire_dtype_named("bf16"), settings.wire, "a wire type by its name");
}

}  // namespace

int main() try {
  torch::manual_seed(1);
  auto context = std::make_unique<cohort::Context>();
  check_settings();
  check_blocking_calls(*context);
  check_calls_in_the_background(*context);
  check_messages(*context);
  check_tensors(*context);
  check_groups(*context);
  check_abort(*context);
  check_broadcast_state(*context);
  check_visit_state(*context);
  check_generations(*context);
  check_that_users_outlive(std::move(context));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
