#include "checkpoint/golden_state.h"
#include "checkpoint/recording_file_system.h"
#include "checkpoint/snapshot_folder.h"
#include "storage/memory_file_system.h"

#include <gtest/gtest.h>

// The order of writes and the leftovers, as docs/disk-format.md describes them.

namespace cohort::test {
namespace {

TEST(SnapshotFolder, TheOrderOfWrites) {
  MemoryFileSystem memory;
  RecordingFileSystem files(memory);
  value_or_throw(write_example(files, "run"));
  const std::string w = "run/.writing-step-000000000001";
  const std::vector<std::string> expected{"sync folder .",
                                          "create " + w + "/model-00001-of-00001.safetensors",
                                          "sync " + w + "/model-00001-of-00001.safetensors",
                                          "info " + w + "/model-00001-of-00001.safetensors",
                                          "create " + w + "/model.safetensors.index.json",
                                          "sync " + w + "/model.safetensors.index.json",
                                          "create " + w + "/manifest.json",
                                          "sync " + w + "/manifest.json",
                                          "sync folder " + w,
                                          "rename " + w + " run/step-000000000001",
                                          "sync folder run"};
  std::vector<std::string> calls = files.take();
  ASSERT_GE(calls.size(), expected.size());
  calls.resize(expected.size());  // the rest looks for old snapshots
  EXPECT_EQ(calls, expected);
  value_or_throw(checkpoint::remove_snapshot(files, "run", "step-000000000001"));
  const std::string r = "run/.removing-step-000000000001";
  EXPECT_EQ(files.take(),
            (std::vector<std::string>{"rename run/step-000000000001 " + r, "sync folder run",
                                      "remove " + r + "/manifest.json",
                                      "remove " + r + "/model-00001-of-00001.safetensors",
                                      "remove " + r + "/model.safetensors.index.json", "remove " + r}));
}

TEST(SnapshotFolder, LeftoversAreIgnoredAndThenRemoved) {
  MemoryFileSystem files;
  value_or_throw(write_example(files, "run"));
  for (const char* name :
       {".writing-step-000000000002", ".removing-step-000000000003", "set-aside-1", "notes"}) {
    value_or_throw(files.make_directories(std::string("run/") + name));
  }
  EXPECT_EQ(value_or_throw(checkpoint::list_snapshots(files, "run")),
            std::vector<std::string>{"step-000000000001"});
  value_or_throw(checkpoint::prepare_folder(files, "run"));
  EXPECT_EQ(value_or_throw(files.list("run")),
            (std::vector<std::string>{"notes", "set-aside-1", "step-000000000001"}));
}

}  // namespace
}  // namespace cohort::test
