#include "content.h"
#include "storage/faulty_file_system.h"
#include "storage/whole_file.h"

namespace cohort {
namespace {

using Names = std::vector<std::string>;

constexpr std::uint64_t kSeeds = 20;
// create, append, sync, close, rename, sync_directory
constexpr std::uint64_t kCallsOfAWrite = 6;
const std::string kOld = letters(4097, 'a');
const std::string kNew = letters(5000, 'k');
const std::string kAbsent = "<not_found>";

// A disk with the file "runs/manifest", synced; or with the directory only, if `content` is kAbsent.
struct Disk {
  explicit Disk(const std::string& content) {
    EXPECT_TRUE(files.make_directories("runs"));
    EXPECT_TRUE(files.sync_directory("/"));
    if (content != kAbsent) put_synced(files, "runs", "manifest", content);
  }
  std::string manifest() { return content_of(files, "runs/manifest"); }
  Names names() { return value_or_throw(files.list("runs")); }

  MemoryFileSystem files;
};

Status write_manifest(FileSystem& fs) {
  return write_file_atomically(fs, "runs/manifest", bytes_of(kNew));
}

void expect_one_of(const std::string& found, const std::string& before, const std::string& where) {
  EXPECT_TRUE(found == before || found == kNew)
      << where << ": " << found.size() << " bytes, " << found.substr(0, 40);
}

// Runs `trial(call, seed)` for call 1, 2, 3, … until the trial returns false: the write ended before that
// call.
template <class Trial>
void for_every_call(Trial trial) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::uint64_t call = 1;
    while (trial(call, seed)) ++call;
    EXPECT_EQ(call, kCallsOfAWrite + 1);
  }
}

enum class Before { kOldFile, kNothing };

class AtomicWrite : public testing::TestWithParam<Before> {
 protected:
  const std::string before = GetParam() == Before::kOldFile ? kOld : kAbsent;
};
std::string before_name(const testing::TestParamInfo<Before>& info) {
  return info.param == Before::kOldFile ? "OverAnOldFile" : "OfAFirstFile";
}
INSTANTIATE_TEST_SUITE_P(, AtomicWrite, testing::Values(Before::kOldFile, Before::kNothing), before_name);

TEST_P(AtomicWrite, LeavesOldOrNewWhicheverCallFails) {
  for_every_call([&](std::uint64_t call, std::uint64_t seed) {
    Disk disk(before);
    FaultyFileSystem fs(disk.files, {.fail_call = call, .code = ErrorCode::kDiskFull, .seed = seed});
    const Status written = write_manifest(fs);
    const bool met = fs.calls() >= call;
    const std::string where = "call " + std::to_string(call);
    EXPECT_EQ(code_name(written), met ? "disk_full" : "");
    EXPECT_EQ(disk.manifest(), call < kCallsOfAWrite ? before : kNew) << where;
    const bool present = call >= kCallsOfAWrite || before != kAbsent;
    EXPECT_EQ(disk.names(), present ? Names{"manifest"} : Names{}) << where;
    fs.crash();
    expect_one_of(disk.manifest(), before, where + ", then a crash");
    return met;
  });
}

TEST_P(AtomicWrite, LeavesOldOrNewWheneverThePowerGoes) {
  for_every_call([&](std::uint64_t call, std::uint64_t seed) {
    Disk disk(before);
    FaultyFileSystem fs(disk.files, {.crash_call = call, .seed = seed});
    const Status written = write_manifest(fs);
    const bool met = fs.calls() >= call;
    EXPECT_EQ(code_name(written), met ? "aborted" : "");
    expect_one_of(disk.manifest(), before, "crash at call " + std::to_string(call));
    EXPECT_TRUE(write_manifest(disk.files));
    EXPECT_EQ(disk.manifest(), kNew);
    EXPECT_EQ(disk.names(), Names{"manifest"});
    return met;
  });
}

TEST_P(AtomicWrite, LastsOnceItHasSucceeded) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Disk disk(before);
    FaultyFileSystem fs(disk.files, {.seed = seed});
    ASSERT_TRUE(write_manifest(fs));
    fs.crash();
    EXPECT_EQ(disk.manifest(), kNew);
    EXPECT_EQ(disk.names(), Names{"manifest"});
  }
}

TEST(AtomicWriteOnAFullDisk, KeepsTheOldFileAndCleansUp) {
  for (const std::uint64_t room_bytes : {0ul, 1ul, 4999ul}) {
    MemoryFileSystem fs(kOld.size() + room_bytes);
    put_synced(fs, ".", "manifest", kOld);
    const Status written = write_file_atomically(fs, "manifest", bytes_of(kNew));
    EXPECT_EQ(code_name(written), "disk_full");
    EXPECT_EQ(content_of(fs, "manifest"), kOld);
    EXPECT_EQ(value_or_throw(fs.list(".")), Names{"manifest"});
    EXPECT_EQ(fs.free_bytes(), room_bytes);
  }
  MemoryFileSystem fs(kOld.size() + kNew.size());
  put_synced(fs, ".", "manifest", kOld);
  EXPECT_TRUE(write_file_atomically(fs, "manifest", bytes_of(kNew)));
}

}  // namespace
}  // namespace cohort
