#!/usr/bin/env python3
"""Guard: the module graph (DESIGN 3) and one door per library.

The graph is what each module's eflops_module call declares; the ceiling is the table in lib/README.md. Every #include
of lib, tasks and apps is held against it. usage: dag.py REPOSITORY
"""

import pathlib
import re
import sys

import tree

# Library -> (what its headers look like, modules that may reach them). "*" is any module, "*.cpp" any module's sources.
DOORS = {
    "fmt": (r"fmt/", {"*"}),
    "JSON forward declaration": (r"nlohmann/json_fwd\.hpp$", {"*"}),
    "nlohmann-json": (r"nlohmann/", {"*.cpp"}),
    "spdlog": (r"spdlog/", {"base"}),
    "xxHash": (r"xxh(ash|3)\.h$", {"base"}),
    "OpenMP": (r"omp\.h$", {"base"}),
    "Highway": (r"hwy/", {"kernels"}),
    "SIMD intrinsics": (r"\w*(?:intrin|neon)\.h$", {"base", "kernels"}),
    "SentencePiece": (r"sentencepiece", {"text"}),
    "ICU": (r"unicode/", {"text"}),
    "yaml-cpp": (r"yaml-cpp/", {"config"}),
    "hwloc": (r"hwloc", {"machine"}),
    "zlib": (r"z(lib|conf)\.h$", {"archive"}),
    "zstd": (r"z(std|dict)\w*\.h$", {"archive"}),
    "libzip": (r"zip\w*\.h$", {"archive"}),
    "SQLite": (r"sqlite3\w*\.h$", {"records"}),
    "oneDNN": (r"(oneapi/)?dnnl", {"ops"}),
    "libjpeg-turbo": (r"j(peg|config|error)\w*\.h$|turbojpeg\.h$", {"data"}),
    "libpng": (r"png\w*\.h$", {"data"}),
    "Open MPI": (r"mpi\w*\.h$", {"comm"}),
    "libibverbs": (r"(infiniband|rdma)/", {"comm"}),
    "Google Benchmark": (r"benchmark/", {"bench"}),
    "CLI11": (r"CLI/", {"apps"}),
    "GoogleTest (only in tests)": (r"g(test|mock)/", set()),
}
# POSIX, Linux and C headers we use, and the C++ standard library (names without a suffix).
SYSTEM = re.compile(
    r"^[a-z_0-9]+$|^c[a-z]+$|^(sys|linux|net|netinet|arpa)/\w+\.h$|"
    r"^(fcntl|ifaddrs|unistd|signal|dirent|poll|pthread|sched|spawn|glob|dlfcn|cxxabi|execinfo|netdb|"
    r"errno|math|stdint|stdio|stdlib|string|time|cpuid|fenv|termios)\.h$"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def included(text):
    """(line, name, quoted) of every #include outside comments."""
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.S)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if match:
            found.append((number, match.group(2), match.group(1) == '"'))
    return found


def map_rows(text):
    """The module table of lib/README.md: name -> (level, modules it may include)."""
    rows = {}
    for line in text.split("\n"):
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 4 and cells[0].isdigit():
            rows[cells[1]] = (int(cells[0]), list(rows) if cells[2] == "all above" else re.findall(r"\w+", cells[2]))
    return rows


def module_of(name):
    """The module a file belongs to: lib/x/..., or tasks and apps."""
    return name.parts[1] if name.parts[0] == "lib" and len(name.parts) > 2 else name.parts[0]


def declaration_problems(modules, rows):
    """Declared graph: known names, strictly increasing levels, nothing the map in lib/README.md does not allow."""
    problems = []
    for module in modules.values():
        for used in module.uses:
            if used not in modules:
                problems.append(f"{module.where}: {module.name} uses {used}, which no eflops_module declares")
            elif modules[used].level >= module.level:
                problems.append(
                    f"{module.where}: {module.name} (level {module.level}) may not use {used} "
                    f"(level {modules[used].level}): levels strictly increase"
                )
        if module.name not in rows:
            problems.append(f"{module.where}: {module.name} has no row in the map of lib/README.md")
            continue
        level, allowed = rows[module.name]
        if level != module.level:
            problems.append(f"{module.where}: {module.name} is level {module.level} here and {level} in lib/README.md")
        extra = [used for used in module.uses if used not in allowed and used != "base"]
        problems += [
            f"{module.where}: {module.name} may not use {used}: lib/README.md allows {', '.join(allowed) or 'base'}"
            for used in extra
        ]
    gone = sorted(set(rows) - set(modules))
    return problems + [f"lib/README.md: the map has a row for {name}, which no eflops_module declares" for name in gone]


def door_of(header):
    """(library, allowed modules) of a third-party header, or None for the standard library and unknown names."""
    for library, (pattern, allowed) in DOORS.items():
        if re.match(pattern, header):
            return library, allowed
    return None


def may_reach(name, allowed):
    """Whether a file may reach a library with these doors."""
    return "*" in allowed or module_of(name) in allowed or ("*.cpp" in allowed and name.suffix == ".cpp")


class Includes:
    """Every #include of the repository's sources, and what each header of ours brings along."""

    def __init__(self, root):
        root = pathlib.Path(root)
        self.names = tree.cpp_files(root, ("lib", "tasks", "apps"), (".h", ".inl", ".cpp", ".in"))
        self.of = {name: included((root / name).read_text()) for name in self.names}
        self.by_path = {}
        for name in self.names:
            parts = name.parts[1:] if name.parts[0] == "lib" else name.parts
            self.by_path["/".join(parts)] = name
        self.known = {}

    def libraries(self, name):
        """{library: chain of headers that brings it} for everything `name` includes, directly or not."""
        if name not in self.known:
            self.known[name] = {}  # breaks cycles between headers
            found = {}
            for _, header, _ in self.of[name]:
                door = door_of(header)
                if header in self.by_path:
                    for library, chain in self.libraries(self.by_path[header]).items():
                        found.setdefault(library, [header] + chain)
                elif door:
                    found.setdefault(door[0], [header])
            self.known[name] = found
        return self.known[name]


def include_problem(includes, modules, name, header, quoted):
    """What is wrong with one #include, or None."""
    own = module_of(name)
    if header in includes.by_path:
        target = module_of(includes.by_path[header])
        if target not in (own, "base", *modules[own].uses):
            return f"{own} may not include {target}"
        for library, chain in includes.libraries(includes.by_path[header]).items():
            if not may_reach(name, DOORS[library][1]):
                return f'"{header}" brings {library} ({chain[-1]}) into {own}: keep it out of that header'
        return None
    door = door_of(header)
    if door:
        if may_reach(name, door[1]):
            return None
        if "*.cpp" in door[1]:
            return f"{header} belongs in sources, not in a header"
        doors = ", ".join(sorted(door[1])) or "none in the product"
        return f"{own} may not include {header}: {door[0]} has one door, {doors}"
    if quoted:
        return f'"{header}" is no file of ours: include by module path, "nn/linear.h"'
    if not SYSTEM.match(header):
        return f"{header} belongs to no library the guard knows: give it a door in tests/arch/dag.py"
    return None


def problems_in(root):
    """Every violation in the repository, as printable lines, and the number of includes read."""
    root = pathlib.Path(root)
    modules = tree.modules(root)
    includes = Includes(root)
    readme = root / "lib" / "README.md"
    problems = declaration_problems(modules, map_rows(readme.read_text()) if readme.exists() else {})
    used = {name: set() for name in modules}
    count = 0
    for name in includes.names:
        own = module_of(name)
        if own not in modules:
            problems.append(f"{name}: {own} has sources and no eflops_module call")
            continue
        for line, header, quoted in includes.of[name]:
            count += 1
            if header in includes.by_path:
                used[own].add(module_of(includes.by_path[header]))
            problem = include_problem(includes, modules, name, header, quoted)
            if problem:
                problems.append(f"{name}:{line}: {problem}")
    for module in modules.values():
        unused = [name for name in module.uses if name in modules and name not in used[module.name]]
        problems += [
            f"{module.where}: {module.name} declares that it uses {name} and includes nothing of it" for name in unused
        ]
    return problems, count


def main():
    problems, count = problems_in(sys.argv[1])
    return tree.report("dag", problems, f"{count} includes read")


if __name__ == "__main__":
    sys.exit(main())
