#include "golden_files.h"
#include "interchange/torch_pieces.h"
#include "state/move.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of all tests here

const std::vector<std::string> kNames = {"weight", "bias"};

/// {'params': [...]}
Dict group(std::vector<Value> params) {
  Dict dict;
  dict.add("lr", 0.5);
  dict.add("params", List{.items = std::move(params)});
  return dict;
}

Dict optimizer(Dict state, std::vector<Value> groups) {
  Dict dict;
  dict.add("state", std::move(state));
  dict.add("param_groups", List{.items = std::move(groups)});
  return dict;
}

Dict state_of(Value key, const char* field, Value value) {
  Dict fields, state;
  fields.add(field, std::move(value));
  state.add(std::move(key), std::move(fields));
  return state;
}

std::string failure(const Value& root, const std::vector<std::string>& names = kNames) {
  const auto state = find_optimizer(root, names);
  return state ? "" : std::string(name(state.error().code())) + ": " + state.error().message();
}

TEST(OptimizerDict, BecomesPieces) {
  const OpenedFile training(golden_file("training.pt"));
  const OptimizerState state = value_or_throw(find_optimizer(training.file().root(), kNames));
  std::vector<std::string> names;
  for (const NamedTensor& each : state.tensors) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"weight/step", "weight/exp_avg", "weight/exp_avg_sq",
                                             "bias/step", "bias/exp_avg", "bias/exp_avg_sq"}));
  EXPECT_EQ(*state.groups.at(0).find("lr"), Value(0.01));

  TorchPieces source(training.file(), {});
  source.add(state);
  std::int64_t steps = 0;
  std::array<float, 2> moments{};
  const Piece wanted[] = {{.name = "bias/step",
                           .dtype = DType::kI64,
                           .shape = {},
                           .mine = {{{}}, 0, 1},
                           .merge = Merge::kSame,
                           .bytes = std::as_writable_bytes(std::span(&steps, 1))},
                          {.name = "weight/exp_avg",
                           .dtype = DType::kF32,
                           .shape = {1, 2},
                           .mine = {{{{0, 0}, {1, 2}}}, 0, 2},
                           .merge = Merge::kSame,
                           .bytes = std::as_writable_bytes(std::span(moments))}};
  const Status moved = state::move(wanted, source);
  ASSERT_TRUE(moved) << moved.error().text();
  EXPECT_EQ(steps, 3);
  EXPECT_NE(moments[0], 0.0f);
  EXPECT_EQ(moments[0], moments[1]) << "of equal inputs";
}

TEST(OptimizerDict, HasStepsThatAreNumbers) {
  const auto step_of = [](Value value) {
    return find_optimizer(optimizer(state_of(0, "step", std::move(value)), {group({0})}),
                          std::vector<std::string>{"w"})
        ->numbers.at(0)
        .value;
  };
  EXPECT_EQ(step_of(7), 7);
  EXPECT_EQ(step_of(7.0), 7);
}

TEST(OptimizerDict, TakesNamesFromTheFile) {
  Dict named = group({4, 5});
  named.add("param_names", List{.items = {"a", "b"}});
  const auto state = find_optimizer(optimizer(state_of(5, "exp_avg", StoredTensor{}), {named}), {});
  ASSERT_TRUE(state) << state.error().text();
  EXPECT_EQ(state->tensors.at(0).name, "b/exp_avg");
  const auto keyed = find_optimizer(optimizer(state_of("w", "exp_avg", StoredTensor{}), {group({"w"})}), {});
  ASSERT_TRUE(keyed) << keyed.error().text();
  EXPECT_EQ(keyed->tensors.at(0).name, "w/exp_avg");
}

TEST(OptimizerDict, IsRefused) {
  EXPECT_EQ(failure(List{}), "usage: expected a dictionary with 'state' and 'param_groups', found a list");
  EXPECT_EQ(failure(optimizer({}, {group({0})})), "usage: the optimizer has 1 parameters, expected 2");
  EXPECT_EQ(failure(optimizer({}, {group({0})}), {}), "usage: the optimizer has no names of parameters");
  EXPECT_EQ(failure(optimizer({}, {group({0, 0})})),
            "corrupt: the state of the optimizer is malformed: parameter 0 is in two groups");
  EXPECT_EQ(failure(optimizer({}, {1})),
            "corrupt: the state of the optimizer is malformed: expected a dict as a group, found an integer");
  EXPECT_EQ(failure(optimizer(state_of(2, "exp_avg", StoredTensor{}), {group({0, 1})})),
            "corrupt: the state of the optimizer is malformed: 'state' has a parameter that is in no group");
  EXPECT_EQ(failure(optimizer(state_of(1, "func_evals", 3), {group({0, 1})})),
            "unsupported: the optimizer keeps an integer as 'bias/func_evals', expected a tensor");
  EXPECT_EQ(failure(optimizer(state_of(1, "momentum_buffer", Value()), {group({0, 1})})), "");
  EXPECT_EQ(failure(optimizer(state_of(1, "step", 1.5), {group({0, 1})})),
            "unsupported: the optimizer keeps a float as 'bias/step', expected a tensor");
}

TEST(OptimizerDict, IsMadeFromPieces) {
  const std::vector<NamedTensor> tensors = {
      {"bias/exp_avg", {}}, {"weight/exp_avg", {}}, {"weight/step", {}}};
  const Dict groups[] = {group({0, 1})};
  const Dict made = value_or_throw(optimizer_dict(tensors, kNames, groups));
  const Dict& state = *made.find("state")->as<Dict>();
  EXPECT_EQ(state.find(0)->as<Dict>()->entries.size(), 2u);
  EXPECT_NE(state.find(1)->as<Dict>()->find("exp_avg"), nullptr);
  EXPECT_EQ(*made.find("param_groups"), Value(List{.items = {groups[0]}}));
  const auto again = find_optimizer(made, kNames);
  EXPECT_EQ(again->tensors.size(), 3u);
}

TEST(OptimizerDict, IsNotMadeFromHalfThePieces) {
  const auto refused = [](const std::string& name, std::vector<Value> params) {
    const std::vector<NamedTensor> tensors = {{name, {}}};
    const Dict groups[] = {group(std::move(params))};
    const auto made = optimizer_dict(tensors, kNames, groups);
    return made ? "" : made.error().message();
  };
  EXPECT_EQ(refused("weight/exp_avg", {0, 1}), "");
  EXPECT_EQ(refused("other/exp_avg", {0, 1}), "'other/exp_avg' is not the state of one of the 2 parameters");
  EXPECT_EQ(refused("weight", {0, 1}), "'weight' is not the state of one of the 2 parameters");
  EXPECT_EQ(refused("weight/exp_avg", {0}), "the groups have 1 parameters, expected numbers 0 … 1");
  EXPECT_EQ(refused("weight/exp_avg", {0, 2}), "the groups have 2 parameters, expected numbers 0 … 1");
}

}  // namespace
}  // namespace cohort::test
