#include "storage/local_file_system.h"

#include "base/descriptor.h"
#include "content.h"
#include "storage/whole_file.h"
#include "temporary_directory.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace cohort {
namespace {

TEST(LocalFileSystem, SaysDiskFullWithARemedy) {
  LocalFileSystem fs;
  const auto full = fs.open_append("/dev/full");
  ASSERT_TRUE(full) << full.error().text();
  const Status written = (*full)->append(bytes_of("a"));
  EXPECT_EQ(code_name(written), "disk_full");
  EXPECT_EQ(
      written.error().text(),
      "cannot write to '/dev/full': no space left on device. Free some space there, or choose a directory "
      "on another disk.");
}

TEST(LocalFileSystem, SaysExhaustedWhenDescriptorsRunOut) {
  LocalFileSystem fs;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string code = code_name(fs.open_read("/dev/null"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(code, "exhausted");
}

TEST(LocalFileSystem, APipeWithoutAWriterDoesNotHoldTheReader) {
  const TemporaryDirectory directory;
  const std::string pipe = directory.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  LocalFileSystem fs;
  EXPECT_EQ(code_name(read_file(fs, pipe)), "io");
}

TEST(LocalFileSystem, AnAtomicWriteFollowsNoLinkAndNoPipeUnderItsTemporaryName) {
  const TemporaryDirectory directory;
  LocalFileSystem fs;
  const std::string victim = directory.path() + "/victim";
  put(fs, victim, "precious");
  ASSERT_EQ(::symlink(victim.c_str(), (directory.path() + "/.a.tmp").c_str()), 0);
  ASSERT_EQ(::mkfifo((directory.path() + "/.b.tmp").c_str(), 0600), 0);
  const std::string long_name(255, 'n');
  for (const std::string& name : {std::string("a"), std::string("b"), long_name}) {
    const Status written = write_file_atomically(fs, directory.path() + "/" + name, bytes_of("new"));
    ASSERT_TRUE(written) << written.error().text();
    EXPECT_EQ(*read_file(fs, directory.path() + "/" + name), "new");
  }
  EXPECT_EQ(*read_file(fs, victim), "precious");
}

TEST(LocalFileSystem, SaysPermissionWhenRefused) {
  const TemporaryDirectory directory;
  LocalFileSystem fs;
  put(fs, directory.path() + "/file", "text");
  ASSERT_EQ(::chmod((directory.path() + "/file").c_str(), 0), 0);
  // root may open every file, so the test runs as another user for a moment.
  constexpr uid_t kNobody = 65534;
  const uid_t self = ::geteuid();
  ASSERT_EQ(::seteuid(self == 0 ? kNobody : self), 0);
  const auto refused = fs.open_read(directory.path() + "/file");
  const Status unwritable = fs.check_writable("/");
  ASSERT_EQ(::seteuid(self), 0);
  EXPECT_EQ(code_name(refused), "permission");
  EXPECT_EQ(code_name(unwritable), "permission");
}

// The flags of all descriptors of this process that refer to `path`.
std::vector<int> descriptor_flags(const std::string& path) {
  std::vector<int> flags;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path)
      flags.push_back(::fcntl(std::stoi(entry.path().filename()), F_GETFD));
  }
  return flags;
}

TEST(LocalFileSystem, DescriptorsAreNotInherited) {
  const TemporaryDirectory directory;
  const std::string path = std::filesystem::canonical(directory.path()).string() + "/file";
  LocalFileSystem fs;
  const auto writer = fs.create(path);
  const auto reader = fs.open_read(path);
  ASSERT_TRUE(writer && reader);
  EXPECT_EQ(descriptor_flags(path), (std::vector<int>{FD_CLOEXEC, FD_CLOEXEC}));
}

TEST(LocalFileSystem, FollowsSymbolicLinks) {
  const TemporaryDirectory directory;
  LocalFileSystem fs;
  put(fs, directory.path() + "/file", "text");
  const std::string link = directory.path() + "/link";
  ASSERT_EQ(::symlink("file", link.c_str()), 0);
  EXPECT_EQ(content_of(fs, link), "text");
  EXPECT_EQ(fs.info(link)->size_bytes, 4u);
  ASSERT_TRUE(fs.remove(directory.path() + "/file"));
  EXPECT_FALSE(value_or_throw(fs.exists(link)));
  EXPECT_EQ(value_or_throw(fs.list(directory.path())), std::vector<std::string>{"link"});
}

// A pipe buffers 64 KiB and the signals interrupt every write(2): writes return short counts or EINTR.
TEST(LocalFileSystem, StartingToSyncChangesNoByteAndNeedsNoDisk) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file", text = letters(100'003);
  LocalFileSystem fs;
  const auto file = fs.create(path);
  ASSERT_TRUE(file) << file.error().text();
  (*file)->start_syncing();  // of nothing
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE((*file)->append(bytes_of(text)));
    (*file)->start_syncing();
  }
  EXPECT_TRUE((*file)->sync());
  EXPECT_TRUE((*file)->close());
  (*file)->start_syncing();
  EXPECT_TRUE(read_file(fs, path) == text + text);
  const auto full = fs.open_append("/dev/full");
  (*full)->start_syncing();
}

TEST(LocalFileSystem, InterruptedAndShortWritesLoseNothing) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  struct sigaction wake {};
  struct sigaction before {};
  wake.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(::sigaction(SIGUSR1, &wake, &before), 0);

  const std::string text = letters(1'000'003);
  Status written;
  std::jthread writer([&] {
    LocalFileSystem fs;
    const auto file = fs.open_append(path);
    written = (*file)->append(bytes_of(text));
  });
  const Descriptor reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string received;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = ::read(reader.number(), piece.data(), piece.size())) > 0;) {
    received.append(piece.data(), static_cast<std::size_t>(count));
    ::pthread_kill(writer.native_handle(), SIGUSR1);
  }
  writer.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(written) << written.error().text();
  EXPECT_TRUE(received == text) << received.size() << " bytes";
}

}  // namespace
}  // namespace cohort
