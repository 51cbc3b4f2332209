#!/usr/bin/env python3
"""Guard: every header of ours compiles alone, with the flags of its own module. usage: headers.py REPOSITORY BUILD

A header that its own source includes before anything else has shown that in the build; the others are compiled here.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

import dag
import tree


def flags_by_folder(entries):
    """Source folder -> the compile command of one of its files, ready for -fsyntax-only."""
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        words = words[1:] if pathlib.Path(words[0]).name == "ccache" else words
        kept, skip = [], False
        for word in words:
            if skip:
                skip = False
            elif word in ("-o", "-c", "-MF", "-MT"):
                skip = True
            elif not word.startswith(("-O", "-M")):
                kept.append(word)
        found.setdefault(str(pathlib.Path(entry["file"]).parent), (kept, entry["directory"]))
    return found


def shown_by_its_source(root, header, sources):
    """Whether the build compiles x.cpp beside x.h and its first include is x.h."""
    source = (root / header).with_suffix(".cpp")
    if str(source) not in sources:
        return False
    first = dag.included(source.read_text())[:1]
    return bool(first) and (root / "lib" / first[0][1] == root / header or root / first[0][1] == root / header)


def problem_of(root, header, flags):
    """The compiler's first error for one header by itself, or None."""
    words, directory = flags
    run = subprocess.run(
        [*words, "-fsyntax-only", "-x", "c++", "-"],
        input=f'#include "{pathlib.Path(root) / header}"\n',
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if run.returncode == 0:
        return None
    errors = [line for line in run.stderr.split("\n") if "error" in line]
    return f"{header}: does not compile alone: {errors[0] if errors else run.stderr.strip()}"


def problems_in(root, build):
    """Every header that does not stand alone, and how many were tried."""
    root = pathlib.Path(root).resolve()
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    by_folder, sources = flags_by_folder(entries), {entry["file"] for entry in entries}
    headers = [
        header for header in tree.cpp_files(root, suffixes=(".h",)) if not shown_by_its_source(root, header, sources)
    ]

    def try_one(header):
        own = str(root / header.parent)
        kin = [folder for folder in by_folder if folder.startswith(str(root / header.parts[0]) + "/")]
        return problem_of(root, header, by_folder[own if own in by_folder else (kin or list(by_folder))[0]])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [problem for problem in pool.map(try_one, headers) if problem], len(headers)


def main():
    problems, count = problems_in(sys.argv[1], sys.argv[2])
    return tree.report("headers", problems, f"{count} headers compiled alone")


if __name__ == "__main__":
    sys.exit(main())
