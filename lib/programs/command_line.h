#pragma once

#include <functional>
#include <string>
#include <vector>

#include "programs/command_line_sources.h"
#include "programs/program.h"

namespace eflops::programs {

/// Reads the strict form of a command line: alternating names (all of `names`, with dashes) and values.
using WordParser = std::function<ParsedWords(const std::vector<std::string>& names, std::vector<std::string> words)>;

/// Runs a program from its words (without argv[0]) and returns its exit status. Nothing escapes: an Error is one line
/// on stderr, "NAME: message", and its code; any other exception is 70. When whoever reads standard output has gone,
/// the process unwinds and then ends by SIGPIPE as other tools do.
int run_main(const Program& program, const std::vector<std::string>& arguments, const WordParser& parse);

/// "eflops-x build": version, commit, compiler, flags and libraries, as --build-info prints them.
std::string build_text(const std::string& program_name);

}  // namespace eflops::programs
