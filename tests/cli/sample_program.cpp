#include <fmt/format.h>

#include <new>
#include <stdexcept>

#include "apps/command_line.h"
#include "base/error.h"
#include "base/log.h"
#include "tests/programs/sample_options.h"

// A program for the tests of the command line: `show` prints what it was given, `throw KIND` ends in every way a
// program can.
namespace {

using namespace eflops;

struct ThrowOptions {
  std::string kind;
  void visit_fields(OptionVisitor& v) { v("kind", kind, "what to throw"); }
};

void show(const programs::Invocation& call) {
  for (const FieldDescription& field : describe(call.options))
    fmt::print("{} = {}  # {}\n", field.path, field.value, call.source_of(field.path));
  fmt::print("command = {}\n", call.command);
  log::info("an info line");
}

void throw_kind(const ThrowOptions& options) {
  const std::string& kind = options.kind;
  if (kind == "check") throw CheckFailed("slower than the baseline");
  if (kind == "config") throw ConfigError("bad option");
  if (kind == "data") throw DataError("bad\nfile\x1b name");
  if (kind == "comm") throw CommError("peer gone");
  if (kind == "timeout") throw TimeoutError("too late");
  if (kind == "interrupted") throw InterruptedError("stopped by SIGTERM; resume with --resume auto");
  EFLOPS_CHECK(kind != "internal", "kind is {}", kind);
  if (kind == "exception") throw std::logic_error("unexpected");
  if (kind == "memory") throw std::bad_alloc();
  if (kind == "number") throw 42;  // NOLINT: what no one should throw
  for (int i = 0; kind == "flood"; ++i) fmt::print("line {}\n", i);
}

}  // namespace

int main(int argc, char** argv) {
  programs::NoOptions none;
  programs::SampleOptions sample;
  ThrowOptions thrown;
  return apps::run_program(
      {.name = "eflops-sample",
       .help = "for tests",
       .verbs = {{.help = "says hello",
                  .options = OptionSet(none),
                  .run = [](const programs::Invocation&) { fmt::print("hello; next: eflops-sample --help\n"); }},
                 {.name = "show",
                  .help = "prints every option",
                  .options = OptionSet(sample),
                  .run = show,
                  .positional = "input"},
                 {.name = "try-estimate",
                  .help = "has an estimate",
                  .options = OptionSet(sample),
                  .run = show,
                  .estimate = [](const programs::Invocation&) { fmt::print("would take 3 s\n"); }},
                 {.name = "throw",
                  .help = "ends badly",
                  .options = OptionSet(thrown),
                  .run = [&](const programs::Invocation&) { throw_kind(thrown); },
                  .positional = "kind"}}},
      argc, argv);
}
