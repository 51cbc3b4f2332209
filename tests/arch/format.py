#!/usr/bin/env python3
"""Guard: every C++ file is as clang-format 14 writes it; skips (77) where that is not installed: other versions differ.

usage: format.py REPOSITORY
"""

import pathlib
import re
import shutil
import subprocess
import sys

import tree

VERSION = "14"  # Debian 12's; 19 (Debian 13's) breaks some lines elsewhere


def problems_in(root, program, names):
    """One line for each file that clang-format would change."""
    run = subprocess.run(
        [program, "--dry-run", "-Werror", *map(str, names)], cwd=root, capture_output=True, text=True, check=False
    )
    if run.returncode == 0:
        return []
    first = {}
    for name, line in re.findall(r"^(.+?):(\d+):\d+: error:", run.stderr, re.M):
        first.setdefault(name, line)
    changed = [f"{name}:{line}: run clang-format -i {name}" for name, line in first.items()]
    return changed or [f"clang-format failed: {run.stderr.strip()}"]


def main():
    root = pathlib.Path(sys.argv[1])
    program = shutil.which("clang-format")
    if not program:
        print("format: skipped, clang-format is not installed (scripts/install-deps test)")
        return 77
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if not re.search(rf"version {VERSION}\.", version):
        print(f"format: skipped, {version} is not version {VERSION}")
        return 77
    names = tree.cpp_files(root)
    return tree.report("format", problems_in(root, program, names), f"{len(names)} files, {version}")


if __name__ == "__main__":
    sys.exit(main())
