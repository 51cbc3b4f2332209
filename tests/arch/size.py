#!/usr/bin/env python3
"""Guard: files of at most 500 lines, functions of at most 80, with an allow-list that may only shrink.

usage: size.py REPOSITORY
"""

import ast
import pathlib
import re
import statistics
import subprocess
import sys

import tree

FILE_LIMIT = 500
FUNCTION_LIMIT = 80
MAIN_LIMIT = 80
ALLOW_LIST = "tests/arch/size_allowlist.txt"
MEMBER_INITIALISER = re.compile(r"\)\s*(?:noexcept\s*)?:[^:].*[\w>]$", re.S)  # the x_ of `A() : x_{1} {`
NOT_A_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|concept)\b|=\s*$|^\s*extern\b")


def without_text(code):
    """C++ with comments, literals and preprocessor lines blanked, line breaks kept: what is left has honest braces."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    pattern = (
        r'R"([^()\s]*)\(.*?\)\1"'  # raw string
        r"|//[^\n]*|/\*.*?\*/"
        r'|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    )  # a character, not a digit separator
    code = re.sub(pattern, blank, code, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.M)


def cpp_functions(code):
    """(name, first line, lines) of every function at namespace or class scope, from its first line to its brace."""
    code = without_text(code)
    found, head_start, at = [], 0, 0
    while at < len(code):
        char = code[at]
        if char == "{":
            head = code[head_start:at]
            signature = re.sub(r"\([^()]*\)|template\s*<[^{}]*?>", "", head)
            if MEMBER_INITIALISER.search(head):
                at = closing_brace(code, at)
            elif "(" in head and not NOT_A_FUNCTION.search(signature):
                end = closing_brace(code, at)
                begin = head_start + re.match(r"\s*(?:(?:public|private|protected)\s*:\s*)*", head).end()
                name = re.search(r"([~\w:]+)\s*\(", head)
                found.append(
                    (name.group(1) if name else "?", code.count("\n", 0, begin) + 1, code.count("\n", begin, end) + 1)
                )
                at, head_start = end, end + 1
            else:
                head_start = at + 1
        elif char in "};":
            head_start = at + 1
        at += 1
    return found


def closing_brace(code, at):
    """Where the brace opened at `at` closes (the end of the text if it does not)."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return len(code) - 1


def python_functions(code):
    """(name, first line, lines) of every Python function."""
    return [
        (node.name, node.lineno, node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def sized(name):
    """Whether a file is code that a person reads."""
    return (
        name.suffix in (".h", ".inl", ".cpp", ".in", ".py", ".cmake", ".sh")
        or name.name == "CMakeLists.txt"
        or name.parts[0] in ("scripts", ".ci")
    )


def parse_allow_list(text):
    """{path or path:function -> lines} of the allow-list."""
    entries = {}
    for line in text.split("\n"):
        fields = line.split("#")[0].split()
        if fields:
            entries[fields[0]] = int(fields[1])
    return entries


def growth_problems(now, before):
    """Entries that the allow-list had not, or had smaller."""
    return [
        f"{ALLOW_LIST}: {name} {lines} is new or grew (was {before.get(name, 'absent')}): the list may only shrink"
        for name, lines in now.items()
        if lines > before.get(name, 0)
    ]


def earlier_allow_lists(root):
    """The list at HEAD and before its last change, where git has them."""
    git = ["git", "-C", str(root)]
    log = subprocess.run(
        [*git, "log", "-2", "--format=%H", "--", ALLOW_LIST], capture_output=True, text=True, check=False
    )
    texts = []
    for commit in log.stdout.split():
        shown = subprocess.run([*git, "show", f"{commit}:{ALLOW_LIST}"], capture_output=True, text=True, check=False)
        if shown.returncode == 0:
            texts.append(shown.stdout)
    return texts


def problems_in(root):
    """Every violation as a printable line, and the one-line summary with the median."""
    root = pathlib.Path(root)
    listed = root / ALLOW_LIST
    allowed = parse_allow_list(listed.read_text()) if listed.exists() else {}
    problems, lengths, used = [], [], set()

    def check(key, where, lines, limit):
        if lines <= limit:
            return
        used.add(key)
        if lines > allowed.get(key, 0):
            problems.append(f"{where}: {lines} lines; the limit is {max(limit, allowed.get(key, 0))}")

    for name in filter(sized, tree.files(root)):
        code = (root / name).read_text()
        lines = code.count("\n")
        if name.suffix in (".h", ".inl", ".cpp"):
            lengths.append(lines)
        is_main = name.parts[0] == "apps" and name.suffix == ".cpp"
        check(str(name), str(name), lines, MAIN_LIMIT if is_main else FILE_LIMIT)
        functions = (
            cpp_functions(code)
            if name.suffix in (".h", ".inl", ".cpp")
            else python_functions(code) if name.suffix == ".py" else []
        )
        for function, line, count in functions:
            check(f"{name}:{function}", f"{name}:{line}: {function}", count, FUNCTION_LIMIT)
    problems += [f"{ALLOW_LIST}: {key} is within the limit now: take it out" for key in allowed if key not in used]
    for earlier in earlier_allow_lists(root):
        problems += growth_problems(allowed, parse_allow_list(earlier))
    lengths.sort()
    summary = (
        f"{len(lengths)} C++ files, median {statistics.median(lengths):.0f}, "
        f"p90 {lengths[int(0.9 * (len(lengths) - 1))]}, longest {lengths[-1]} lines"
        if lengths
        else "no C++ files"
    )
    return problems, summary


def main():
    problems, summary = problems_in(sys.argv[1])
    return tree.report("size", problems, summary)


if __name__ == "__main__":
    sys.exit(main())
