#include "data/open_images.h"

#include <fmt/format.h>

namespace cohort::data {

Result<OpenedData> open_idx(FileSystem& fs, const DataConfig& config, std::uint64_t seed) {
  COHORT_ASSIGN_OR_RETURN(const records::ImageSources sources,
                          find_images(fs, config.path, config.test_path, folder_test_of(config)));
  ImageSets sets;
  COHORT_ASSIGN_OR_RETURN(sets.train, open_images(fs, sources.train));
  if (sets.train.count() == 0) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' has no images", sources.train.images));
  }
  if (sources.test) {
    COHORT_ASSIGN_OR_RETURN(sets.test, open_images(fs, *sources.test));
  }
  return opened_images(std::move(sets), config, seed);
}

}  // namespace cohort::data
