#pragma once

#include "models/structbert.h"

namespace eflops::models {

/// Throws DataError naming the array, the index and the valid range where a batch does not fit the model.
void check_input(const StructBertInput& input, const StructBertOptions& options, Mode mode);

}  // namespace eflops::models
