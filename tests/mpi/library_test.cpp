#include "mpi/library.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace cohort::mpi {
namespace {

class LoadShim : public ::testing::Test {
 protected:
  LoadShim() {
    char pattern[] = "/tmp/cohort-mpi-XXXXXX";
    directory_ = ::mkdtemp(pattern);
  }
  ~LoadShim() override { std::filesystem::remove_all(directory_); }
  void put(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ + "/" + name) << content;
  }
  LibraryOptions options(Implementation implementation) const {
    return {.implementation = implementation, .shim_directory = directory_};
  }

  std::string directory_;
};

TEST_F(LoadShim, OfAnMpiThatCohortWasBuiltWithoutSaysWhatToInstall) {
  const auto open_mpi = load_shim(options(Implementation::kOpenMpi));
  ASSERT_FALSE(open_mpi);
  EXPECT_EQ(open_mpi.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(open_mpi.error().text(),
            "this Cohort was built without Open MPI: there is no '" + directory_ +
                "/libcohort-mpi-openmpi.so'. Install libopenmpi-dev and build Cohort again.");
  const auto mpich = load_shim(options(Implementation::kMpich));
  ASSERT_FALSE(mpich);
  EXPECT_EQ(mpich.error().remedy(), "Install libmpich-dev and build Cohort again.");
}

TEST_F(LoadShim, ThatCannotBeLoadedSaysWhatToInstall) {
  put("libcohort-mpi-mpich.so", "not a library");
  const auto shim = load_shim(options(Implementation::kMpich));
  ASSERT_FALSE(shim);
  EXPECT_EQ(shim.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(shim.error().message().rfind("cannot load MPICH: ", 0), 0u) << shim.error().text();
  EXPECT_EQ(shim.error().remedy(), "Install mpich.");
}

TEST_F(LoadShim, WithALibmpiThatIsNotThereNamesIt) {
  LibraryOptions wanted = options(Implementation::kOpenMpi);
  wanted.library = directory_ + "/libmpi.so.40";
  const auto shim = load_shim(wanted);
  ASSERT_FALSE(shim);
  EXPECT_EQ(shim.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(shim.error().message().find("cannot load '" + wanted.library + "'"), std::string::npos);
}

TEST_F(LoadShim, ThatIsAnotherLibraryIsRefused) {
  std::filesystem::create_symlink("/lib/x86_64-linux-gnu/libz.so.1",
                                  directory_ + "/libcohort-mpi-openmpi.so");
  if (!std::filesystem::exists(directory_ + "/libcohort-mpi-openmpi.so"))
    GTEST_SKIP() << "no libz to stand in for a shim";
  const auto shim = load_shim(options(Implementation::kOpenMpi));
  ASSERT_FALSE(shim);
  EXPECT_EQ(shim.error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(shim.error().remedy(), "Install Cohort again.");
}

}  // namespace
}  // namespace cohort::mpi
