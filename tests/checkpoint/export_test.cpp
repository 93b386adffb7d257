#include "checkpoint/export.h"

#include "checkpoint/compare.h"
#include "checkpoint/golden_state.h"
#include "checkpoint/snapshot_folder.h"
#include "checkpoint/verify.h"
#include "state/safetensors.h"
#include "storage/content.h"
#include "storage/memory_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using checkpoint::Snapshot;
using checkpoint::SnapshotTensors;

const checkpoint::BytesRead kNoReport = [](std::uint64_t) {};

class Exports : public ::testing::Test {
 protected:
  void SetUp() override {
    value_or_throw(write_golden(files_, "run"));
    snapshot_ = value_or_throw(Snapshot::open(files_, "run", checkpoint::snapshot_name(4)));
    tensors_.emplace(*snapshot_);
  }
  checkpoint::Export to(const std::string& path) {
    return {.from = *tensors_,
            .course = snapshot_->manifest().course,
            .files = files_,
            .path = path,
            .report = [this](std::uint64_t n) { written_ += n; }};
  }
  void expect_golden(const SafetensorsFile& file, std::size_t count) {
    EXPECT_EQ(file.tensors().size(), count);
    for (const GoldenTensor& tensor : golden_tensors()) {
      const TensorView* const found = file.find(tensor.name);
      if (found == nullptr) continue;
      const std::vector<std::byte> expected = golden_bytes(tensor, 4);
      EXPECT_EQ(found->dtype, tensor.dtype);
      EXPECT_TRUE(std::equal(found->bytes.begin(), found->bytes.end(), expected.begin(), expected.end()))
          << tensor.name;
      --count;
    }
    EXPECT_EQ(count, 0u);
  }

  MemoryFileSystem files_;
  std::unique_ptr<Snapshot> snapshot_;
  std::optional<SnapshotTensors> tensors_;
  std::uint64_t written_ = 0;
};

TEST_F(Exports, OneFile) {
  const auto list = tensors_of(*tensors_, checkpoint::Part::kAll);
  value_or_throw(export_safetensors(to("all.safetensors"), list));
  EXPECT_EQ(written_, size_bytes(list));
  const SafetensorsFile file = value_or_throw(SafetensorsFile::open(files_, "all.safetensors"));
  expect_golden(file, 15);
  EXPECT_EQ(file.metadata(),
            (std::map<std::string, std::string>{{"epoch", "1"}, {"format", "pt"}, {"step", "4"}}));
  const Status again = export_safetensors(to("all.safetensors"), list);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::kAlreadyExists);
}

TEST_F(Exports, FactsOfTheModel) {
  checkpoint::Course course = snapshot_->manifest().course;
  course.settings["cohort.model"] = "{}";
  EXPECT_EQ(metadata_of(course).at("cohort.model"), "{}");
  EXPECT_FALSE(metadata_of(course).contains("train.seed"));
}

TEST_F(Exports, FilesOfHuggingFace) {
  const auto list = tensors_of(*tensors_, checkpoint::Part::kModel);
  value_or_throw(export_huggingface(to("hf"), list, 2100));
  EXPECT_EQ(value_or_throw(files_.list("hf")),
            (std::vector<std::string>{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                                      "model.safetensors.index.json"}));
  const auto first = value_or_throw(SafetensorsFile::open(files_, "hf/model-00001-of-00002.safetensors"));
  const auto second = value_or_throw(SafetensorsFile::open(files_, "hf/model-00002-of-00002.safetensors"));
  EXPECT_EQ(first.tensors().size() + second.tensors().size(), 11u);
  expect_golden(first, first.tensors().size());
  expect_golden(second, second.tensors().size());
  const std::string index = content_of(files_, "hf/model.safetensors.index.json");
  for (const auto& tensor : second.tensors()) {
    EXPECT_NE(index.find(fmt::format("\"{}\": \"model-00002-of-00002.safetensors\"", tensor.name)),
              std::string::npos);
  }
  EXPECT_NE(index.find(fmt::format("\"total_size\": {}", size_bytes(list))), std::string::npos);
}

TEST_F(Exports, NoFileIsLongerThanAllowedUnlessOneTensorIs) {
  const auto list = tensors_of(*tensors_, checkpoint::Part::kAll);
  for (const std::uint64_t most : {1u, 24u, 100u, 2048u, 2049u, 1'000'000u}) {
    std::size_t count = 0;
    for (const auto& file : cut_into_files(list, most)) {
      count += file.size();
      EXPECT_TRUE(size_bytes(file) <= most || file.size() == 1) << most;
    }
    EXPECT_EQ(count, list.size());
  }
  EXPECT_EQ(cut_into_files(list, 1'000'000).size(), 1u);
}

TEST_F(Exports, AFullSnapshotOfOneRank) {
  value_or_throw(export_snapshot(to("mine"), 300));
  const std::string name = checkpoint::snapshot_name(4);
  EXPECT_TRUE(checkpoint::Verifier(files_, "mine", kNoReport).verify(name).empty());
  const auto copy = value_or_throw(Snapshot::open(files_, "mine", name));
  const SnapshotTensors of_copy(*copy);
  ASSERT_EQ(of_copy.all().size(), tensors_->all().size());
  for (const auto& tensor : tensors_->all()) {
    const auto* const other = of_copy.find(tensor.name);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->merge, tensor.merge);
    EXPECT_EQ(
        value_or_throw(checkpoint::compare(*tensors_, tensor, of_copy, *other, kNoReport)).num_different, 0u);
  }
  EXPECT_EQ(copy->manifest().base, "");
  EXPECT_EQ(copy->manifest().course.settings, snapshot_->manifest().course.settings);
  EXPECT_EQ(copy->manifest().course.position.samples, 64);
  EXPECT_FALSE(export_snapshot(to("mine"), 300));
}

TEST_F(Exports, NothingIsLeftOfOneThatFails) {
  put(files_, "run/step-000000000004/changes-00002-of-00002.safetensors", std::string(216, 'x'));
  EXPECT_FALSE(export_snapshot(to("mine"), 300));
  EXPECT_TRUE(value_or_throw(files_.list("mine")).empty());
  EXPECT_FALSE(export_safetensors(to("all.safetensors"), tensors_of(*tensors_, checkpoint::Part::kAll)));
  EXPECT_FALSE(value_or_throw(files_.exists("all.safetensors")));
}

}  // namespace
}  // namespace cohort::test
