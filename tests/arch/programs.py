#!/usr/bin/env python3
"""Guard: every program explains itself. It stands in README's table, has a page docs/NAME.md, and its --help works and
names the exit codes. usage: programs.py REPOSITORY BIN
"""

import pathlib
import re
import subprocess
import sys

import tree


def declared(root):
    """The programs of apps/: name -> where its eflops_program call stands."""
    found = {}
    for name in tree.files(root):
        if name.parts[0] == "apps" and name.name == "CMakeLists.txt":
            for line, arguments in tree.cmake_calls((pathlib.Path(root) / name).read_text(), "eflops_program"):
                found[tree.keywords(arguments, ("NAME", "SOURCES", "LIBRARIES"))["NAME"][0]] = f"{name}:{line}"
    return found


def page_problems(root, programs):
    """Programs that README or docs/ do not know, and rows of README's table for programs that do not exist."""
    root = pathlib.Path(root)
    readme = (root / "README.md").read_text() if (root / "README.md").exists() else ""
    rows = set(re.findall(r"^\|\s*`(eflops-[a-z]+)`", readme, re.M))
    problems = [
        f"{where}: {name} has no row in README.md's table of programs"
        for name, where in programs.items()
        if name not in rows
    ]
    problems += [
        f"README.md: the table has a row for {name}, which no eflops_program declares"
        for name in sorted(rows - set(programs))
    ]
    return problems + [
        f"{where}: {name} has no page docs/{name}.md"
        for name, where in programs.items()
        if not (root / "docs" / f"{name}.md").exists()
    ]


def help_problems(program):
    """What is wrong with a program's --help and --describe."""
    run = subprocess.run(
        [str(program), "--help"], capture_output=True, text=True, check=False, timeout=20, stdin=subprocess.DEVNULL
    )
    if run.returncode != 0:
        return [f"{program.name} --help: exit {run.returncode}: {run.stderr.strip()[:200]}"]
    missing = [word for word in ("Exit codes", "--config", "--describe") if word.lower() not in run.stdout.lower()]
    return [f"{program.name} --help: does not mention {word}" for word in missing]


def main():
    root, binaries = sys.argv[1], pathlib.Path(sys.argv[2])
    programs = declared(root)
    problems = page_problems(root, programs)
    for name in programs:
        problems += help_problems(binaries / name) if (binaries / name).is_file() else [f"{name}: not built"]
    return tree.report("programs", problems, f"{len(programs)} programs")


if __name__ == "__main__":
    sys.exit(main())
