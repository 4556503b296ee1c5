// CSV and its kin: one row of numbers per line, separated by ';', ',' or a tab (the first of these that the first line
// has), else by blanks. A header row, quoted fields, "\r\n", a byte-order mark, blank lines and lines that begin with #
// are understood. A row with another number of fields, an empty field or a word is an error that names the line.
// Numbers become float64. Memory: 8 bytes for every number kept.
#pragma once

#include <string>
#include <vector>

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

struct CsvTable {
  std::vector<std::string> columns;  // of the whole file; empty without a header
  Array array;
};

// options: header, columns, array.
CsvTable parse_csv(const Source& source, const LoadOptions& options);

}  // namespace kith::io
