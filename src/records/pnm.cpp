#include "records/pnm.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace cohort::records {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;
constexpr std::string_view kBlanks = " \t\r\n\v\f";

Error corrupt_image(const std::string& path, const std::string& what) {
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not a valid PGM or PPM file: {}", path, what));
}

/// Reads the numbers of a header or of a plain image.
class PnmNumbers {
 public:
  explicit PnmNumbers(std::string_view text) : text_(text) {}

  std::optional<std::int64_t> next() {
    skip_blanks();
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (failure != std::errc{} || number < 0) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return number;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (kBlanks.find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view rest() const { return text_.substr(at_); }

 private:
  std::string_view text_;
  std::size_t at_ = 2;  // after the magic number
};

Status read_sizes(PnmNumbers& numbers, const std::string& path, PnmImage& image) {
  const auto width = numbers.next(), height = numbers.next(), most = numbers.next();
  if (!width || !height || !most) return corrupt_image(path, "a number of its header is missing");
  if (*width < 1 || *height < 1 || *width > kMostPixels || *height > kMostPixels / *width) {
    return corrupt_image(path, fmt::format("its size is {} × {}", *height, *width));
  }
  if (*most < 1 || *most > 65535) return corrupt_image(path, fmt::format("its largest value is {}", *most));
  image.width = *width;
  image.height = *height;
  image.most = static_cast<int>(*most);
  return {};
}

// The place of the value number `i` of the file, where the channels of a pixel follow each other.
std::size_t place_of(const PnmImage& image, std::size_t i) {
  const auto channels = static_cast<std::size_t>(image.channels);
  return i % channels * static_cast<std::size_t>(image.height * image.width) + i / channels;
}

std::size_t num_values(const PnmImage& image) {
  return static_cast<std::size_t>(image.channels * image.height * image.width);
}

Status put(PnmImage& image, std::size_t i, std::int64_t value, const std::string& path) {
  if (value > image.most) {
    return corrupt_image(path, fmt::format("value {} is {}, the largest is {}", i, value, image.most));
  }
  image.values[place_of(image, i)] = static_cast<std::uint16_t>(value);
  return {};
}

Status read_binary(std::string_view raster, const std::string& path, PnmImage& image) {
  const std::size_t bytes = image.most < 256 ? 1 : 2;
  if (raster.size() != num_values(image) * bytes) {
    return corrupt_image(path, fmt::format("its header claims {} bytes of pixels; {} follow",
                                           num_values(image) * bytes, raster.size()));
  }
  image.values.resize(num_values(image));
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    std::int64_t value = 0;
    for (std::size_t k = 0; k < bytes; ++k) {
      value = value << 8 | static_cast<unsigned char>(raster[i * bytes + k]);
    }
    COHORT_RETURN_IF_ERROR(put(image, i, value, path));
  }
  return {};
}

Status read_plain(PnmNumbers& numbers, const std::string& path, PnmImage& image) {
  if (numbers.rest().size() < num_values(image)) return corrupt_image(path, "values of pixels are missing");
  image.values.resize(num_values(image));
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    const auto value = numbers.next();
    if (!value) return corrupt_image(path, fmt::format("value {} of its pixels is missing or no number", i));
    COHORT_RETURN_IF_ERROR(put(image, i, *value, path));
  }
  numbers.skip_blanks();
  if (!numbers.rest().empty()) return corrupt_image(path, "something follows its last pixel");
  return {};
}

}  // namespace

bool is_pnm(std::string_view content) {
  if (content.size() < 3 || content[0] != 'P') return false;
  const bool known = std::string_view("2356").find(content[1]) != std::string_view::npos;
  return known && (content[2] == '#' || kBlanks.find(content[2]) != std::string_view::npos);
}

Result<PnmImage> parse_pnm(std::string_view content, const std::string& path) {
  if (!is_pnm(content)) return corrupt_image(path, "it does not begin with P2, P3, P5 or P6");
  PnmImage image;
  image.channels = content[1] == '3' || content[1] == '6' ? 3 : 1;
  PnmNumbers numbers(content);
  COHORT_RETURN_IF_ERROR(read_sizes(numbers, path, image));
  if (content[1] == '2' || content[1] == '3') {
    COHORT_RETURN_IF_ERROR(read_plain(numbers, path, image));
    return image;
  }
  const std::string_view rest = numbers.rest();
  if (rest.empty() || kBlanks.find(rest.front()) == std::string_view::npos) {
    return corrupt_image(path, "no blank is between its header and its pixels");
  }
  COHORT_RETURN_IF_ERROR(read_binary(rest.substr(1), path, image));
  return image;
}

std::vector<float> PnmImage::shares() const {
  std::vector<float> numbers;
  for (const std::uint16_t value : values) {
    numbers.push_back(static_cast<float>(static_cast<double>(value) / most));
  }
  return numbers;
}

}  // namespace cohort::records
