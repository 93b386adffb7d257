#include "data/digits.h"

#include "base/check.h"
#include "data/glyphs.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cohort/random.h>

namespace cohort::data {
namespace {

constexpr std::uint64_t kDigitStream = 0x646967697473;

// Positions in the random stream of a sample.
enum DigitNumber : std::uint64_t {
  kClass,
  kTurn,
  kSlant,
  kWidth,
  kHeight,
  kShiftX,
  kShiftY,
  kThickness,
  kNoise = 16
};

float between(const RandomStream& stream, DigitNumber position, double low, double high) {
  return static_cast<float>(low + (high - low) * stream.uniform(position));
}

Pose pose_of(const RandomStream& stream) {
  return {.turn = between(stream, kTurn, -0.13, 0.13),  // about 15 degrees either way
          .slant = between(stream, kSlant, -0.2, 0.2),
          .width = between(stream, kWidth, 0.65, 1.0),
          .height = between(stream, kHeight, 0.7, 1.0),
          .shift = {between(stream, kShiftX, -0.08, 0.08), between(stream, kShiftY, -0.08, 0.08)}};
}

// Adds uniform noise of this standard deviation; four pixels take one block of random numbers.
void add_noise(const RandomStream& stream, double deviation, std::span<float> pixels) {
  const auto spread = static_cast<float>(deviation * 3.4641016151377544);  // √12
  for (std::size_t first = 0; first < pixels.size(); first += 4) {
    const auto words = stream.block(kNoise + first / 4);
    for (std::size_t i = first; i < std::min(first + 4, pixels.size()); ++i) {
      const float uniform = static_cast<float>(words[i - first] >> 8) * 0x1p-24f - 0.5f;
      pixels[i] = std::clamp(pixels[i] + spread * uniform, 0.0f, 1.0f);
    }
  }
}

}  // namespace

DigitsDataset::DigitsDataset(GeneratedRange range, const DigitsOptions& options)
    : range_(range), options_(options) {
  COHORT_CHECK(options_.classes >= 1 && options_.classes <= 10);
  COHORT_CHECK_GE(options_.image_size, 1);
}

Batch DigitsDataset::allocate(std::int64_t count) const {
  const std::int64_t size = options_.image_size;
  return {at::empty({count, 1, size, size}, at::kFloat), at::empty({count}, at::kLong), {}};
}

void DigitsDataset::write(std::int64_t index, std::int64_t row, const Batch& into) const {
  const auto stream =
      RandomStream(range_.seed, kDigitStream).substream(range_.first + static_cast<std::uint64_t>(index));
  const std::int64_t num_pixels = std::int64_t{options_.image_size} * options_.image_size;
  const std::span<float> pixels(row_of<float>(into.input, row, num_pixels),
                                static_cast<std::size_t>(num_pixels));
  const auto digit = static_cast<int>(stream.below(static_cast<std::uint64_t>(options_.classes), kClass));
  std::fill(pixels.begin(), pixels.end(), 0.0f);
  draw_digit(digit, pose_of(stream), between(stream, kThickness, 0.06, 0.11),
             {pixels.data(), options_.image_size});
  if (options_.noise > 0) add_noise(stream, options_.noise, pixels);
  for (float& pixel : pixels) pixel = options_.scale(pixel);
  *row_of<std::int64_t>(into.target, row, 1) = digit;
}

}  // namespace cohort::data
