#include "golden_files.h"
#include "interchange/model_tensors.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of all tests here

class TorchFileForms : public testing::TestWithParam<const char*> {
 protected:
  const StoredTensor& tensor(const char* name) const {
    return *opened_.at({"tensors", name}).as<StoredTensor>();
  }

  const OpenedFile opened_{golden_file(GetParam())};
};

TEST_P(TorchFileForms, HaveTheTensorsThatPythonSaved) {
  ASSERT_EQ(opened_.failure(), "");
  EXPECT_EQ(opened_.numbers_of<float>(tensor("matrix")),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(tensor("transposed").shape, (Shape{4, 3}));
  EXPECT_EQ(opened_.numbers_of<float>(tensor("transposed")),
            (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(opened_.numbers_of<float>(tensor("column")), (std::vector<float>{1, 5, 9}));
  EXPECT_EQ(opened_.numbers_of<float>(tensor("part")), (std::vector<float>{6, 7, 10, 11}));
  EXPECT_EQ(tensor("part").storage, tensor("matrix").storage) << "one storage";
  EXPECT_EQ(tensor("scalar").shape, Shape());
  EXPECT_EQ(opened_.numbers_of<double>(tensor("scalar")), std::vector<double>{7.5});
  EXPECT_EQ(tensor("empty").shape, (Shape{0, 3}));
  EXPECT_EQ(opened_.bytes_of(tensor("empty")), "");
  EXPECT_EQ(opened_.numbers_of<std::int64_t>(tensor("repeated")), (std::vector<std::int64_t>{5, 5, 5, 5}));
  EXPECT_EQ(tensor("bf16").dtype, DType::kBF16);
  EXPECT_EQ(opened_.bytes_of(tensor("bf16")), std::string("\x80\x3f\x00\xc0", 4));
  EXPECT_EQ(tensor("f16").dtype, DType::kF16);
  EXPECT_EQ(opened_.bytes_of(tensor("bool")), std::string("\1\0\1", 3));
  EXPECT_EQ(opened_.bytes_of(tensor("u8")), "\xff");
  EXPECT_EQ(opened_.numbers_of<float>(tensor("parameter")), std::vector<float>{3});
  EXPECT_TRUE(opened_.file().check());
}

TEST_P(TorchFileForms, HaveOtherValues) {
  ASSERT_EQ(opened_.failure(), "");
  EXPECT_EQ(opened_.at({"none"}), Value());
  EXPECT_EQ(opened_.at({"yes"}), Value(true));
  EXPECT_EQ(opened_.at({"int"}), Value(-5));
  EXPECT_EQ(opened_.at({"long"}), Value(std::int64_t{1} << 40));
  EXPECT_EQ(opened_.at({"huge"}).as<Object>()->type, "builtins.int");
  EXPECT_EQ(opened_.at({"float"}), Value(1.5));
  EXPECT_EQ(opened_.at({"text"}), Value("Grüße"));
  EXPECT_EQ(opened_.at({"bytes"}), Value(Bytes{.bytes = std::string("a\xff\0", 3)}));
  EXPECT_EQ(opened_.at({"list"}), Value(List{.items = {1, List{.items = {2, Tuple{}}}}}));
  EXPECT_EQ(opened_.at({"tuple"}), Value(Tuple{.items = {1, "x"}}));
  EXPECT_EQ(opened_.at({"set"}), Value(List{.items = {4}}));
  EXPECT_EQ(*opened_.file().root().as<Dict>()->find(7), Value("seven"));
  EXPECT_EQ(opened_.at({"size"}), Value(Tuple{.items = {1, 2}}));
  EXPECT_EQ(opened_.at({"dtype"}), Value(Object{.type = "torch.float16", .content = {}}));
  EXPECT_EQ(opened_.at({"device"}),
            Value(Object{.type = "torch.device", .content = {Tuple{.items = {"cpu"}}}}));
}

INSTANTIATE_TEST_SUITE_P(, TorchFileForms, testing::Values("zip.pt", "legacy.pt"), [](const auto& form) {
  return std::string(form.param, std::string(form.param).find('.'));
});

TEST(TorchFile, IsComparedWithItsChecksums) {
  std::string content = golden_file("zip.pt");
  const OpenedFile good(content);
  const StoredTensor scalar = *good.at({"tensors", "scalar"}).as<StoredTensor>();
  const std::size_t place = content.find(good.bytes_of(scalar));
  content[place] = static_cast<char>(content[place] ^ 1);
  const OpenedFile bad(content);
  ASSERT_EQ(bad.failure(), "");
  double number = 0;
  const auto into = std::as_writable_bytes(std::span(&number, 1));
  const Status read = bad.file().read(scalar, 0, into);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(read.error().text().find("has the checksum"), std::string::npos) << read.error().text();
  EXPECT_FALSE(bad.file().check());
}

TEST(TorchFile, IsCutAnywhere) {
  for (const char* const name : {"zip.pt", "legacy.pt"}) {
    const std::string content = golden_file(name);
    for (std::size_t length = 0; length < content.size(); ++length) {
      const std::string text = OpenedFile(content.substr(0, length)).failure();
      const bool has_mark = length == 0 || length > 3;
      EXPECT_TRUE(text.starts_with(has_mark ? "corrupt: cannot read torch file 'x.pt': "
                                   : name == std::string("zip.pt") ? "unsupported"
                                                                   : "corrupt"))
          << length << " " << text;
    }
  }
}

TEST(TorchFile, IsRefusedWithItsByteOrder) {
  std::string content = golden_file("legacy.pt");
  const std::string key = "little_endian";
  const std::size_t place = content.find('\x88', content.find(key));
  content[place] = '\x89';
  EXPECT_EQ(OpenedFile(content).failure(),
            "unsupported: cannot read torch file 'x.pt': its byte order is 'big', expected 'little'. "
            "Load and save it in Python on a little-endian machine.");
}

TEST(Model, IsFoundUnderItsUsualKeys) {
  const OpenedFile training(golden_file("training.pt"));
  const auto model = find_model(training.file().root());
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->under, "model");
  ASSERT_EQ(model->tensors.size(), 2u);
  EXPECT_EQ(model->tensors[0].name, "weight");
  EXPECT_EQ(model->tensors[1].name, "bias");
  const auto named = find_model(OpenedFile(golden_file("zip.pt")).file().root(), "tensors");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->tensors.size(), 12u);
}

TEST(Model, IsNotGuessed) {
  const auto failure = [](const Value& root) { return find_model(root).error().text(); };
  const Value tensor = StoredTensor{};
  Dict model, two, none;
  model.add("weight", tensor);
  two.add("state_dict", model);
  two.add("model", model);
  none.add("epoch", 3);
  EXPECT_EQ(failure(two),
            "expected one state dict, not two under 'state_dict' and 'model', found a dict with 2 keys: "
            "'state_dict', 'model'. Name the key of the dictionary that has the model's tensors.");
  EXPECT_EQ(failure(none),
            "expected the state dict of a model, found a dict with 1 keys: 'epoch'. "
            "Name the key of the dictionary that has the model's tensors.");
  EXPECT_EQ(failure(List{}),
            "expected the state dict of a model, found a list. "
            "Name the key of the dictionary that has the model's tensors.");
  model.add("version", 1);
  EXPECT_EQ(find_model(model)->others, std::vector<std::string>{"version"});
}

}  // namespace
}  // namespace cohort::test
