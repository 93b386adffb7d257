#pragma once

#include "observe/screen.h"

#include <string>
#include <vector>

namespace cohort::observe {

/// A cell: its text, and a colour for terminals.
struct Cell {
  std::string text;
  Colour colour = Colour::kNone;
};

/// Rows in aligned columns; text that does not fit the width is wrapped inside the last column.
///
///     Table table({"key", "what it does"});
///     table.add({{"log.level"}, {"The least serious kind …"}});
///     out << table.text(screen);
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

  void add(std::vector<Cell> row);
  std::string text(const Screen& screen) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<Cell>> rows_;
};

/// The number of columns of a UTF-8 text on a terminal (one per code point).
std::size_t columns_of(std::string_view text);

/// The text cut into lines of at most `width` columns, at spaces where possible. Spaces at the beginning
/// stay.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace cohort::observe
