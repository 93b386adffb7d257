#include "small_model.h"
#include "storage/temporary_directory.h"

#include <ATen/ATen.h>
#include <fstream>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

namespace cohort::test {
namespace {

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

struct Net : torch::nn::Module {
  Net() {
    layer = register_module("layer", torch::nn::Linear(2, 3));
    seen = register_buffer("seen", at::zeros({1}, at::kLong));
  }
  torch::nn::Linear layer{nullptr};
  at::Tensor seen;
};

class ModelFile : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder.path() + "/" + name; }

  TemporaryDirectory folder;
};

TEST_F(ModelFile, OfAnOwnModuleIsReadIntoAnother) {
  Net net, other;
  net.seen.fill_(7);
  save_model(net, at("net"), {.kind = "net", .classes = {"a", "b", "c"}, .others = {{"note", "mine"}}});
  const ModelFacts facts = load_model(other, at("net"));
  EXPECT_TRUE(other.layer->weight.equal(net.layer->weight));
  EXPECT_TRUE(other.seen.equal(net.seen));
  EXPECT_EQ(facts.kind, "net");
  EXPECT_EQ(facts.classes, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(facts.others.at("note"), "mine");
}

TEST_F(ModelFile, ThatDoesNotFitLeavesTheModuleUnchanged) {
  Net net;
  const at::Tensor before = net.layer->weight.detach().clone();
  save_model(*torch::nn::Linear(2, 3), at("other"));
  EXPECT_NE(error_of([&] { load_model(net, at("other")); }).find("it has no tensor 'layer.weight'"),
            std::string::npos);
  EXPECT_TRUE(net.layer->weight.equal(before));
}

TEST_F(ModelFile, OfAJobBuildsItsModel) {
  const ModelFacts facts = mlp_facts();
  const auto trained =
      value_or_throw(make_model(mlp_config(), {.input_shape = {2}, .classes = 3, .outputs = 3}, 17));
  save_model(*trained, at("m"), facts);
  const LoadedModel loaded = load_model(at("m"));
  EXPECT_FALSE(loaded.module->is_training());
  trained->eval();
  const at::Tensor input = at::ones({4, 2});
  EXPECT_TRUE(loaded.module->forward(input).equal(trained->forward(input)));
  EXPECT_EQ(loaded.facts.settings.at("hidden"), "[5,3]");
  EXPECT_EQ(loaded.facts.settings.at("activation"), "tanh");
  EXPECT_EQ(loaded.facts.settings.at("dropout"), "0.25");
  EXPECT_EQ(loaded.facts.loss, "cross_entropy");
  EXPECT_EQ(loaded.facts.mean, (std::vector<double>{1, 10}));
  EXPECT_EQ(loaded.facts.deviation, (std::vector<double>{2, 5}));
}

TEST_F(ModelFile, ThatIsNoModelIsNamed) {
  EXPECT_NE(error_of([&] { load_model(at("none")); }).find("none"), std::string::npos);
  std::ofstream(at("text")) << "a text, not a model, and long enough for a length\n";
  EXPECT_NE(error_of([&] { load_model(at("text")); }).find("cannot be used as a model"), std::string::npos);
  save_model(Net(), at("own"), {.kind = "net"});
  const std::string own = error_of([&] { load_model(at("own")); });
  EXPECT_NE(own.find("model.kind 'net' is unknown"), std::string::npos) << own;
  EXPECT_NE(own.find("cohort::load_model(module, path)"), std::string::npos) << own;
}

TEST_F(ModelFile, ThatIsCutOffIsNamed) {
  const ModelFacts facts = mlp_facts();
  save_model(*value_or_throw(make_model(facts)), at("m"), facts);
  const auto size = std::filesystem::file_size(at("m"));
  for (const auto length : {std::uintmax_t{0}, std::uintmax_t{7}, std::uintmax_t{100}, size - 1}) {
    std::filesystem::resize_file(at("m"), length);
    EXPECT_NE(error_of([&] { load_model(at("m")); }).find("cannot be used as a model"), std::string::npos)
        << length;
    save_model(*value_or_throw(make_model(facts)), at("m"), facts);
  }
}

TEST_F(ModelFile, WithASettingThatModelsDoNotHaveIsRefused) {
  ModelFacts facts = mlp_facts();
  const auto model =
      value_or_throw(make_model(mlp_config(), {.input_shape = {2}, .classes = 3, .outputs = 3}, 17));
  for (const auto& [name, value] : {std::pair{"depth", "3"}, {"hidden", "many"}, {"kind", "gpt"}}) {
    ModelFacts wrong = facts;
    wrong.settings[name] = value;
    save_model(*model, at("m"), wrong);
    EXPECT_NE(error_of([&] { load_model(at("m")); }).find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace cohort::test
