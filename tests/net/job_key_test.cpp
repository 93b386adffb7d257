#include "net/job_key.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cohort::test {
namespace {

using net::JobKey;

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "cohort-key-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST(JobKey, GoesThroughAFileThatOnlyItsOwnerCanRead) {
  const Folder folder;
  const std::string path = folder.path / "key";
  const JobKey key = *JobKey::make();
  ASSERT_TRUE(key.write(path));
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  const auto read = JobKey::read(path);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->text(), key.text());
  EXPECT_EQ(read->job(), key.job());
  EXPECT_FALSE(key.write(path)) << "an old key is not overwritten";
}

TEST(JobKey, AFileThatOthersCanReadIsRefused) {
  const Folder folder;
  const std::string path = folder.path / "key";
  ASSERT_TRUE(JobKey::make()->write(path));
  for (const mode_t mode : {0640u, 0604u, 0660u, 0602u}) {
    ::chmod(path.c_str(), mode);
    const auto read = JobKey::read(path);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::kPermission) << read.error().text();
  }
}

TEST(JobKey, WhatIsNoKeyIsRefused) {
  const std::string good = JobKey::make()->text();
  EXPECT_TRUE(JobKey::parse(good));
  std::string bad = good;
  bad[7] = 'g';
  for (const std::string& text :
       {std::string(), good.substr(1), good + "0", bad, good.substr(0, 63) + "\n\n"}) {
    EXPECT_FALSE(JobKey::parse(text)) << text;
  }
}

TEST(JobKey, SignaturesAreOfOneKeyOnePurposeAndTheseBytes) {
  const JobKey key = *JobKey::make();
  const JobKey other = *JobKey::make();
  std::vector<std::byte> bytes(50, std::byte{7});
  const net::Mac mac = key.sign("hello", bytes);
  EXPECT_TRUE(key.verify("hello", bytes, mac));
  EXPECT_FALSE(other.verify("hello", bytes, mac));
  EXPECT_FALSE(key.verify("welcome", bytes, mac));
  EXPECT_NE(key.job(), other.job());
  EXPECT_NE(key.derive("tls"), key.derive("hello"));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    EXPECT_FALSE(key.verify("hello", bytes, mac));
    bytes[i] ^= std::byte{1};
  }
}

}  // namespace
}  // namespace cohort::test
