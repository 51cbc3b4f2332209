#!/usr/bin/env python3
"""Runs the examples of README.md and docs/: every block fenced as ```sh, in order, each page in a folder of its own.

The programs of BIN come first in PATH. A block fenced as ```sh fails=N is expected to end with that code. Blocks without
`sh` are not run. usage: docs_test.py REPOSITORY BIN [PAGE...]
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 300
FENCE = re.compile(r"^```sh(?: fails=(\d+))?\n(.*?)^```$", re.M | re.S)


def examples(text):
    """(line, expected exit code, commands) of every runnable block."""
    return [
        (text.count("\n", 0, match.start()) + 2, int(match.group(1) or 0), match.group(2))
        for match in FENCE.finditer(text)
    ]


def problem_of(where, commands, expected, folder, environment):
    """Runs one block; what went wrong, or None."""
    begin = time.monotonic()
    try:
        run = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", commands],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{where}: still running after {TIMEOUT_S} s"
    if run.returncode != expected:
        return f"{where}: exit {run.returncode}, expected {expected}: {(run.stderr or run.stdout).strip()[-600:]}"
    print(f"{where}: ok, {time.monotonic() - begin:.1f} s", flush=True)
    return None


def main():
    root, binaries = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    pages = sys.argv[3:] or ["README.md", *sorted(f"docs/{page.name}" for page in (root / "docs").glob("*.md"))]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EFLOPS_")}
    environment["PATH"] = f"{binaries}:{environment['PATH']}"
    environment["OMP_WAIT_POLICY"] = "passive"
    problems, count = [], 0
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            for line, expected, commands in examples((root / page).read_text(encoding="utf-8")):
                count += 1
                problem = problem_of(f"{page}:{line}", commands, expected, folder, environment)
                if problem:
                    problems.append(problem)
                    break  # later blocks of a page build on earlier ones
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{count} examples, {len(problems)} failed")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
