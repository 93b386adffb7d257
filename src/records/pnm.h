#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::records {

/// An image of one of the Netpbm formats: PGM (grey) or PPM (red, green, blue).
///
///     P5 or P6 │ width │ height │ largest value │ one blank │ rows of 1 or 2 bytes, big-endian, for each
///     value P2 or P3 │ width │ height │ largest value │ the same values as decimal numbers
///
/// Numbers of the header are separated by blanks and line ends; a comment goes from # to the end of its line.
struct PnmImage {
  std::int64_t channels = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  int most = 255;                       ///< the value of white
  std::vector<std::uint16_t> values{};  ///< channel after channel, each row after row

  /// The share of white, 0 … 1, of each value.
  std::vector<float> shares() const;
};

/// Whether these bytes begin as a PGM or PPM file.
bool is_pnm(std::string_view content);

/// Failure: kCorrupt, naming `path` and the part of the file, if a byte is missing, wrong or too many.
/// Cost: the sizes in the header allocate no memory that the file does not fill.
Result<PnmImage> parse_pnm(std::string_view content, const std::string& path);

}  // namespace cohort::records
