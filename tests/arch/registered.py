#!/usr/bin/env python3
"""Guard: no test is outside the runner. Every test source is listed by its CMakeLists.txt, none is disabled, and every
CTest test has one known label and a timeout. usage: registered.py REPOSITORY BUILD
"""

import json
import pathlib
import re
import subprocess
import sys

import tree

LABELS = {"unit", "mpi", "cli", "slow", "rdma"}


def source_problems(root):
    """Test sources that no CMakeLists.txt beside or above them names, and tests switched off in the source."""
    root = pathlib.Path(root)
    problems = []
    for name in tree.files(root):
        if name.parts[0] != "tests" or not re.search(r"_test\.(cpp|py)$", name.name):
            continue
        text = (root / name).read_text()
        problems += [
            f"{name}:{text.count(chr(10), 0, match.start()) + 1}: a disabled test is no test"
            for match in re.finditer(r"\bDISABLED_\w+", text)
        ]
        if not any(named_in(root, folder, name) for folder in name.parents if folder.parts):
            problems.append(f"{name}: no CMakeLists.txt above it lists it")
    return problems


def named_in(root, folder, name):
    """Whether folder/CMakeLists.txt names the test, perhaps behind a variable for the folder."""
    listing = root / folder / "CMakeLists.txt"
    if not listing.exists():
        return False
    text = re.sub(r"#.*", "", listing.read_text())
    relative = str(name.relative_to(folder))
    words = {re.sub(r"^\$\{\w+\}/", "", word) for word in re.split(r"[\s()\"]+", text)}
    return relative in words


def ctest_problems(listing):
    """Tests of `ctest --show-only=json-v1` without one known label or without a timeout."""
    problems = []
    for test in listing["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        labels = properties.get("LABELS", [])
        if test["name"].endswith("_NOT_BUILT"):
            problems.append(f"{test['name'].removesuffix('_NOT_BUILT')}: not built, so its tests are unknown")
        elif len(labels) != 1 or labels[0] not in LABELS:
            problems.append(f"{test['name']}: needs one label of {', '.join(sorted(LABELS))}; has {labels or 'none'}")
        elif not properties.get("TIMEOUT"):
            problems.append(f"{test['name']}: has no timeout")
    return problems if listing["tests"] else ["ctest knows no test"]


def main():
    root, build = sys.argv[1:3]
    shown = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True
    )
    listing = json.loads(shown.stdout)
    return tree.report(
        "registered", source_problems(root) + ctest_problems(listing), f"{len(listing['tests'])} tests known"
    )


if __name__ == "__main__":
    sys.exit(main())
