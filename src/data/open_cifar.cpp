#include "data/open_images.h"
#include "records/cifar.h"

namespace cohort::data {

Result<OpenedData> open_cifar(FileSystem& fs, const DataConfig& config, std::uint64_t seed) {
  COHORT_ASSIGN_OR_RETURN(const records::CifarFiles files,
                          records::find_cifar(fs, config.path, config.test_path, folder_test_of(config)));
  ImageSets sets;
  COHORT_ASSIGN_OR_RETURN(sets.train, records::open_cifar(fs, files.train, files.class_names));
  if (!files.test.empty()) {
    COHORT_ASSIGN_OR_RETURN(sets.test, records::open_cifar(fs, files.test, files.class_names));
  }
  return opened_images(std::move(sets), config, seed);
}

}  // namespace cohort::data
