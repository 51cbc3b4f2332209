"""What the guards share: the files of the repository, and the module graph as the CMake calls declare it."""

import pathlib
import re
import subprocess
from dataclasses import dataclass, field

CODE_FOLDERS = ("lib", "apps", "tasks", "tests")
NEVER_OURS = {".git", "build", "runs", "__pycache__"}


@dataclass
class Module:
    """One eflops_module call: `uses` leaves out base, which every module has."""

    name: str
    level: int
    uses: list = field(default_factory=list)
    where: str = ""


def files(root):
    """Every file git knows or would add, relative to `root`; outside a checkout, every file but build output."""
    root = pathlib.Path(root)
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = [pathlib.PurePosixPath(name) for name in listed.stdout.decode().split("\0") if name]
    else:
        names = [pathlib.PurePosixPath(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return sorted(name for name in set(names) if not NEVER_OURS & set(name.parts) and (root / name).is_file())


def cpp_files(root, folders=CODE_FOLDERS, suffixes=(".h", ".inl", ".cpp")):
    """The C++ files under the given top folders."""
    return [name for name in files(root) if name.parts[0] in folders and name.suffix in suffixes]


def cmake_calls(text, function):
    """(line, arguments) of every call of `function` in a CMake file; comments and quotes are removed.

    ${name} stands for all words that `set` and `list(APPEND` give it in the same file, on any branch.
    """
    text = "\n".join(re.sub(r"#.*", "", line) for line in text.split("\n"))
    variables = {}
    for match in re.finditer(r"\b(?:set[ \t]*\(|list[ \t]*\(APPEND[ \t]+)(\w+)\s([^()]*)\)", text):
        variables.setdefault(match.group(1), []).extend(match.group(2).split())
    calls = []
    for match in re.finditer(rf"^[ \t]*{function}[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text, re.M):
        words = []
        for word in match.group(1).replace('"', "").split():
            words += variables.get(word[2:-1], [word]) if re.fullmatch(r"\$\{\w+\}", word) else [word]
        calls.append((text.count("\n", 0, match.start()) + 1, words))
    return calls


def keywords(arguments, names):
    """Splits CMake arguments at the keywords `names`: {"USES": ["tensor"], ...}."""
    found, current = {}, None
    for argument in arguments:
        if argument in names:
            current = found.setdefault(argument, [])
        elif current is not None:
            current.append(argument)
    return found


def modules(root):
    """Every module declared in lib, tasks and apps, by name.

    A module with an optional part is declared once for each choice, alike but for its sources. Raises ValueError for
    anything else, and for a call without NAME or LEVEL.
    """
    found = {}
    for name in files(root):
        if name.name != "CMakeLists.txt" or name.parts[0] not in ("lib", "tasks", "apps"):
            continue
        for line, arguments in cmake_calls((pathlib.Path(root) / name).read_text(), "eflops_module"):
            given = keywords(arguments, ("NAME", "LEVEL", "SOURCES", "USES", "LIBRARIES"))
            where = f"{name}:{line}"
            if len(given.get("NAME", [])) != 1 or not "".join(given.get("LEVEL", [])).isdigit():
                raise ValueError(f"{where}: eflops_module needs one NAME and one LEVEL")
            module = Module(given["NAME"][0], int(given["LEVEL"][0]), given.get("USES", []), where)
            first = found.get(module.name, module)
            if (first.level, first.uses) != (module.level, module.uses):
                raise ValueError(f"{where}: module {module.name} is declared otherwise at {first.where}")
            found[module.name] = module
    return found


def report(guard, problems, summary):
    """Prints every problem, one a line, then one line of result; returns the exit status."""
    for problem in problems:
        print(problem)
    print(f"{guard}: {f'{len(problems)} problem(s)' if problems else 'ok'}; {summary}")
    return 1 if problems else 0
