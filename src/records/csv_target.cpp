#include "records/csv_target.h"

#include "records/csv_cells.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace cohort::records {
namespace {

constexpr float kLargestExact = 1 << 24;  // whole numbers up to here are exact as floats
constexpr std::string_view kOtherColumn = "or name another column with data.target_column.";

// Sorts the values and removes duplicates.
template <class T>
std::vector<T> distinct(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

template <class T>
std::vector<float> places_of(const std::vector<T>& values, const std::vector<T>& sorted) {
  std::vector<float> places;
  places.reserve(values.size());
  for (const T& value : values) {
    const auto found = std::lower_bound(sorted.begin(), sorted.end(), value);
    places.push_back(static_cast<float>(found - sorted.begin()));
  }
  return places;
}

}  // namespace

void TargetColumn::take(std::string_view cell, std::uint64_t line) {
  const std::optional<float> number = number_in(cell);
  const auto keep_first = [&](std::optional<Cell>& first) {
    if (!first) first = Cell{std::string(cell), line};
  };
  keep_first(number ? first_number_ : first_text_);
  if (number) {
    const bool is_whole = *number == std::floor(*number);
    has_fraction_ = has_fraction_ || !is_whole;
    if (!is_whole || std::abs(*number) > kLargestExact) keep_first(first_not_a_class_);
  }
  numbers_.push_back(number.value_or(0.0f));
  texts_.emplace_back(cell);
}

Error TargetColumn::ambiguous(const std::string& column) const {
  if (first_text_) {
    return Error(ErrorCode::kUsage,
                 fmt::format("{} has numbers, such as {} in line {}, and text, such as {} in line {}", column,
                             shown(first_number_->text), first_number_->line, shown(first_text_->text),
                             first_text_->line))
        .with_remedy(
            "Set data.target = \"class\" if all of them are names of classes; correct the text if "
            "the column is numbers.");
  }
  const auto [least, most] = std::minmax_element(numbers_.begin(), numbers_.end());
  return Error(ErrorCode::kUsage,
               fmt::format("{} has whole numbers from {} to {}, which may be classes or numbers", column,
                           *least, *most))
      .with_remedy("Set data.target = \"class\" to tell them apart, or \"number\" to predict their value.");
}

Result<CsvTarget> TargetColumn::kind_for(CsvTarget wanted, const std::string& column) const {
  if (wanted == CsvTarget::kNumber && first_text_) {
    return Error(ErrorCode::kUsage, fmt::format("data.target = \"number\", but {} has {} in line {}", column,
                                                shown(first_text_->text), first_text_->line))
        .with_remedy(fmt::format("Set data.target = \"class\", {}", kOtherColumn));
  }
  if (wanted == CsvTarget::kClass && !first_text_ && first_not_a_class_) {
    return Error(ErrorCode::kUsage,
                 fmt::format("data.target = \"class\", but {} has {} in line {}; classes are text or whole "
                             "numbers up to {}",
                             column, shown(first_not_a_class_->text), first_not_a_class_->line,
                             static_cast<int>(kLargestExact)))
        .with_remedy(fmt::format("Set data.target = \"number\", {}", kOtherColumn));
  }
  if (wanted != CsvTarget::kAuto) return wanted;
  if (first_text_ && !first_number_) return CsvTarget::kClass;
  if (!first_text_ && has_fraction_) return CsvTarget::kNumber;
  return ambiguous(column);
}

TargetColumn::Targets TargetColumn::text_classes() && {
  Targets targets;
  targets.class_names = distinct(texts_);
  targets.numbers = places_of(texts_, targets.class_names);
  return targets;
}

TargetColumn::Targets TargetColumn::number_classes() && {
  const std::vector<float> sorted = distinct(numbers_);
  Targets targets{.numbers = places_of(numbers_, sorted)};
  for (const float number : sorted) {
    targets.class_names.push_back(std::to_string(static_cast<std::int64_t>(number)));
  }
  return targets;
}

Result<TargetColumn::Targets> TargetColumn::finish(CsvTarget wanted, const std::string& column) && {
  COHORT_ASSIGN_OR_RETURN(const CsvTarget kind, kind_for(wanted, column));
  if (kind == CsvTarget::kNumber) return Targets{.numbers = std::move(numbers_)};
  return first_text_ ? std::move(*this).text_classes() : std::move(*this).number_classes();
}

}  // namespace cohort::records
