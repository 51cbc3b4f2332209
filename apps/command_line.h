#pragma once

#include "programs/program.h"

namespace eflops::apps {

/// The body of every main: reads the command line, runs the program and returns its exit status.
int run_program(const programs::Program& program, int argc, char** argv);

}  // namespace eflops::apps
