#pragma once

#include "bench/table.h"

namespace eflops::bench {

// The columns and closing lines of nccl-tests, for scripts that read those.

std::string nccl_columns();
/// One line for one size; either place may be missing and then shows N/A.
std::string nccl_line(const TableHead& head, const TableRow* out, const TableRow* in);
std::string nccl_footer(const TableHead& head, const std::vector<TableRow>& rows);

// Comma-separated values: one line of names, then a line a row, with an empty field where a value is not known.

std::string csv_columns();
std::string csv_line(const TableHead& head, const TableRow& row);

/// Seconds as microseconds in nine columns: fewer decimals where the number is long.
std::string microseconds(double seconds);

}  // namespace eflops::bench
