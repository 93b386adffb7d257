#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::records {

/// The content of a target column, as data.target says: classes to tell apart, or numbers to predict. kAuto:
/// a column of text is classes, a column of numbers with a fraction is numbers, any other column is
/// ambiguous.
enum class CsvTarget { kAuto, kClass, kNumber };

/// Gathers the cells of a target column.
class TargetColumn {
 public:
  /// The targets as numbers: of classes, the index of each cell's class in `class_names`.
  struct Targets {
    std::vector<float> numbers{};
    std::vector<std::string> class_names{};  ///< sorted; empty if the targets are numbers
  };

  void take(std::string_view cell, std::uint64_t line);
  std::size_t size() const { return numbers_.size(); }

  /// Failure: kUsage, naming data.target, if the cells are not of the wanted kind, or if kAuto is ambiguous.
  /// `column` names file and column in the message: `column 'y' of 't.csv'`.
  Result<Targets> finish(CsvTarget wanted, const std::string& column) &&;

 private:
  struct Cell {
    std::string text;
    std::uint64_t line = 0;
  };
  Result<CsvTarget> kind_for(CsvTarget wanted, const std::string& column) const;
  Error ambiguous(const std::string& column) const;
  Targets text_classes() &&;
  Targets number_classes() &&;

  std::vector<float> numbers_;  // 0 for a text
  std::vector<std::string> texts_;
  std::optional<Cell> first_text_;
  std::optional<Cell> first_number_;
  std::optional<Cell> first_not_a_class_;  // a number with a fraction, or too large to be exact as a float
  bool has_fraction_ = false;
};

}  // namespace cohort::records
