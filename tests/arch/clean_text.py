#!/usr/bin/env python3
"""Guard: nothing in the repository that belongs to one machine or one afternoon. usage: clean_text.py REPOSITORY

Refused: absolute paths of a developer's machine, web hosts outside a short list of public ones, keys, unfinished-work
marks, merge conflicts, Windows line ends, trailing blanks, and large files (real data stay outside).
"""

import pathlib
import re
import sys

import tree

SIZE_LIMIT = 2 << 20
HOSTS = {
    "www.apache.org",
    "arxiv.org",
    "doi.org",
    "github.com",
    "huggingface.co",
    "json-schema.org",
    "www.w3.org",
    "www.kernel.org",
    "creativecommons.org",
    "www.debian.org",
    "pytorch.org",
    "localhost",
    "127.0.0.1",
    "example.org",
    "example.com",
}
RULES = [  # each pattern is written so that it does not match its own line here
    ("a path of one machine", re.compile(r"(?<![\w.$}])/(?:wor[k]|roo[t]|hom[e])/\w|/tm[p]/(?:build|brief)")),
    ("an unfinished-work mark", re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b")),
    ("a merge conflict", re.compile(r"^(?:<{7} |>{7} |={7}$)")),
    (
        "a key or token",
        re.compile(
            r"-{5}BEGIN [A-Z ]*PRIVATE KEY|\bAKI[A][0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|" r"\bhf_[A-Za-z]{34}\b"
        ),
    ),
    ("a blank at the line's end", re.compile(r"[ \t]+$")),
    ("a carriage return", re.compile(r"\r")),
]
HOST = re.compile(r"\b(?:https?|git|ssh)://(?:[^/@\s]+@)?([A-Za-z0-9.-]+)")


def line_problems(where, line):
    """What is wrong with one line."""
    problems = [f"{where}: {what}: {line.strip()[:100]}" for what, pattern in RULES if pattern.search(line)]
    return problems + [
        f"{where}: host {host} is not in the list of tests/arch/clean_text.py"
        for host in HOST.findall(line)
        if host not in HOSTS
    ]


def problems_in(root):
    """Every violation as a printable line, and the number of text files read."""
    root = pathlib.Path(root)
    problems, count = [], 0
    for name in tree.files(root):
        content = (root / name).read_bytes()
        if len(content) > SIZE_LIMIT:
            problems.append(f"{name}: {len(content)} bytes; real data and builds stay out of the repository")
            continue
        try:
            text = content.decode()
        except UnicodeDecodeError:
            continue  # a binary file (a golden tensor) has no lines
        if name.name == "LICENSE" or "\0" in text:
            continue
        count += 1
        if text and not text.endswith("\n"):
            problems.append(f"{name}: no line break at its end")
        for number, line in enumerate(text.split("\n"), 1):
            problems += line_problems(f"{name}:{number}", line)
    return problems, count


def main():
    problems, count = problems_in(sys.argv[1])
    return tree.report("clean_text", problems, f"{count} text files read")


if __name__ == "__main__":
    sys.exit(main())
