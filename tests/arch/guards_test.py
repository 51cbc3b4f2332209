#!/usr/bin/env python3
"""Every guard can fail: each is shown a small repository with one fault, and names it, and one without."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import clean_text
import configs_smoke
import dag
import format as format_guard
import headers
import programs
import registered
import size
import tree

MAP = """| level | module | may include | door | one line |
|---|---|---|---|---|
| 0 | `base` | – | fmt | errors |
| 1 | `tensor` | – | – | buffers |
| 1 | `kernels` | – | Highway | loops |
| 2 | `ops` | tensor, kernels | oneDNN | operations |
"""
GOOD = {
    "lib/README.md": MAP,
    "lib/base/CMakeLists.txt": "eflops_module(NAME base LEVEL 0 SOURCES log.cpp LIBRARIES spdlog::spdlog)\n",
    "lib/base/log.cpp": "#include <spdlog/spdlog.h>\n\n#include <string>\n",
    "lib/tensor/CMakeLists.txt": "eflops_module(NAME tensor LEVEL 1\n  SOURCES tensor.cpp)\n",
    "lib/tensor/tensor.h": "#pragma once\n#include <vector>\n",
    "lib/tensor/tensor.cpp": '#include "tensor/tensor.h"\n',
    "lib/kernels/CMakeLists.txt": "eflops_module(NAME kernels LEVEL 1 SOURCES sum.cpp)  # (no USES)\n",
    "lib/kernels/sum.h": "#pragma once\n",
    "lib/kernels/sum.cpp": "#include <hwy/highway.h>\n",
    "lib/ops/CMakeLists.txt": "eflops_module(NAME ops LEVEL 2 USES tensor kernels SOURCES add.cpp)\n",
    "lib/ops/engine.h": "#pragma once\n#include <oneapi/dnnl/dnnl.hpp>\n",
    "lib/ops/add.h": '#pragma once\n#include "tensor/tensor.h"\n',
    "lib/ops/add.cpp": '#include "ops/add.h"\n#include "kernels/sum.h"\n#include "ops/engine.h"\n',
}


class Repository(unittest.TestCase):
    """A throw-away folder of files."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, contents):
        for name, text in contents.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")

    def git(self, *arguments):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(self.root), *identity, *arguments], check=True, capture_output=True)


class Dag(Repository):
    def problems_with(self, **changed):
        """The guard's findings for GOOD with some files replaced; keys are paths with __ for / and _dot_ for '.'."""
        self.write({**GOOD, **{key.replace("__", "/").replace("_dot_", "."): text for key, text in changed.items()}})
        return dag.problems_in(self.root)[0]

    def test_accepts_a_sound_graph(self):
        self.assertEqual(self.problems_with(), [])

    def test_names_file_and_line_of_an_upward_include(self):
        self.assertEqual(
            self.problems_with(lib__tensor__tensor_dot_cpp='\n#include "ops/add.h"\n')[0],
            "lib/tensor/tensor.cpp:2: tensor may not include ops",
        )

    def test_finds_a_sibling_include_that_is_not_declared(self):
        self.assertIn(
            "lib/kernels/sum.cpp:1: kernels may not include tensor",
            self.problems_with(lib__kernels__sum_dot_cpp='#include "tensor/tensor.h"\n'),
        )

    def test_ignores_includes_in_comments(self):
        text = '#include "tensor/tensor.h"\n/*\n#include "ops/add.h"\n*/\n// #include "ops/add.h"\n'
        self.assertEqual(self.problems_with(lib__tensor__tensor_dot_cpp=text), [])

    def test_refuses_levels_that_do_not_increase(self):
        found = self.problems_with(
            lib__tensor__CMakeLists_dot_txt="eflops_module(NAME tensor LEVEL 1 USES kernels)\n",
            lib__tensor__tensor_dot_cpp='#include "kernels/sum.h"\n',
        )
        self.assertIn(
            "lib/tensor/CMakeLists.txt:1: tensor (level 1) may not use kernels (level 1): levels strictly increase",
            found,
        )

    def test_refuses_what_the_map_does_not_allow(self):
        found = self.problems_with(lib__README_dot_md=MAP.replace("tensor, kernels", "tensor"))
        self.assertEqual(found, ["lib/ops/CMakeLists.txt:1: ops may not use kernels: lib/README.md allows tensor"])

    def test_refuses_a_map_that_has_drifted(self):
        found = self.problems_with(
            lib__README_dot_md=MAP.replace("| 2 | `ops`", "| 3 | `ops`") + "| 3 | `nn` | ops | – | x |\n"
        )
        self.assertEqual(
            found,
            [
                "lib/ops/CMakeLists.txt:1: ops is level 2 here and 3 in lib/README.md",
                "lib/README.md: the map has a row for nn, which no eflops_module declares",
            ],
        )

    def test_gives_each_library_one_door(self):
        found = self.problems_with(lib__tensor__tensor_dot_cpp='#include "tensor/tensor.h"\n#include <hwy/highway.h>\n')
        self.assertEqual(
            found, ["lib/tensor/tensor.cpp:2: tensor may not include hwy/highway.h: Highway has one door, kernels"]
        )

    def test_finds_a_library_that_leaks_through_a_header(self):
        found = self.problems_with(
            lib__README_dot_md=MAP + "| 3 | `nn` | ops | – | layers |\n",
            lib__nn__CMakeLists_dot_txt="eflops_module(NAME nn LEVEL 3 USES ops SOURCES a.cpp)\n",
            lib__nn__a_dot_cpp='#include "ops/add.h"\n',
            lib__ops__add_dot_h='#pragma once\n#include "ops/engine.h"\n',
            lib__ops__add_dot_cpp='#include "tensor/tensor.h"\n#include "kernels/sum.h"\n',
        )
        self.assertEqual(
            found,
            ['lib/nn/a.cpp:1: "ops/add.h" brings oneDNN (oneapi/dnnl/dnnl.hpp) into nn: keep it out of that ' "header"],
        )

    def test_keeps_full_json_out_of_headers(self):
        found = self.problems_with(lib__tensor__tensor_dot_h="#pragma once\n#include <nlohmann/json.hpp>\n")
        self.assertIn("lib/tensor/tensor.h:2: nlohmann/json.hpp belongs in sources, not in a header", found)

    def test_refuses_unknown_libraries_and_folder_relative_includes(self):
        found = self.problems_with(lib__tensor__tensor_dot_cpp='#include "tensor.h"\n#include <boost/any.hpp>\n')
        self.assertEqual(
            found[0], 'lib/tensor/tensor.cpp:1: "tensor.h" is no file of ours: include by module path, "nn/linear.h"'
        )
        self.assertIn("boost/any.hpp belongs to no library", found[1])

    def test_finds_unused_declarations_and_undeclared_folders(self):
        found = self.problems_with(lib__ops__add_dot_cpp='#include "ops/add.h"\n', lib__extra__a_dot_cpp="\n")
        self.assertEqual(
            found,
            [
                "lib/extra/a.cpp: extra has sources and no eflops_module call",
                "lib/ops/CMakeLists.txt:1: ops declares that it uses kernels and includes nothing of it",
            ],
        )


class Size(Repository):
    def test_counts_functions_from_their_first_line_to_their_brace(self):
        code = (
            "namespace a {\nclass B : public C {\n public:\n  B() : x_{1}, y_(2) {\n    if (x_) {\n    }\n  }\n"
            "  int f(int x = 1) const\n  {\n    return '{' + x;  // }\n  }\n};\n}\n"
            "template <typename T>\nauto g(T t) -> int {\n"
            '  auto h = [&](int) { return R"({{{)"; };\n  return 1\'000;\n}\n'
            "const int k[] = {1, 2};\nenum class E { A };\n#define M(x) { x\nTEST(A, B) {\n}\n"
        )
        self.assertEqual(
            [entry for entry in size.cpp_functions(code) if entry[2] > 1],
            [("B", 4, 4), ("f", 8, 4), ("g", 14, 5), ("TEST", 22, 2)],
        )

    def test_refuses_long_functions_and_files(self):
        self.write(
            {
                "lib/a/long.cpp": "int f() {\n" + "  g();\n" * 79 + "}\n",
                "lib/a/fits.cpp": "int f() {\n" + "\n" * 78 + "}\n",
                "lib/a/big.h": "\n" * 501,
                "tests/big.py": "def f():\n" + "    g()\n" * 80,
                "apps/main.cpp": "\n" * 81,
            }
        )
        self.assertEqual(
            size.problems_in(self.root)[0],
            [
                "apps/main.cpp: 81 lines; the limit is 80",
                "lib/a/big.h: 501 lines; the limit is 500",
                "lib/a/long.cpp:1: f: 81 lines; the limit is 80",
                "tests/big.py:1: f: 81 lines; the limit is 80",
            ],
        )

    def test_allow_list_lets_pass_what_it_names_and_no_more(self):
        self.write({"lib/a.h": "\n" * 510, size.ALLOW_LIST: "lib/a.h 510  # why\nlib/gone.h 700\n"})
        self.assertEqual(
            size.problems_in(self.root)[0], [f"{size.ALLOW_LIST}: lib/gone.h is within the limit now: take it out"]
        )
        self.write({"lib/a.h": "\n" * 511})
        self.assertIn("lib/a.h: 511 lines; the limit is 510", size.problems_in(self.root)[0])

    def test_allow_list_may_only_shrink(self):
        self.write({"lib/a.h": "\n" * 510, size.ALLOW_LIST: "lib/a.h 505\n"})
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "start")
        self.write({size.ALLOW_LIST: "lib/a.h 510\n"})
        grew = [f"{size.ALLOW_LIST}: lib/a.h 510 is new or grew (was 505): the list may only shrink"]
        self.assertEqual(size.problems_in(self.root)[0], grew)
        self.git("commit", "-qam", "grow")
        self.assertEqual(size.problems_in(self.root)[0], grew)  # also once it is committed


class Format(Repository):
    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_names_the_file_that_would_change(self):
        self.write({"lib/good.cpp": "int a;\n", "lib/bad.cpp": "int  a ;\n", ".clang-format": "BasedOnStyle: Google\n"})
        self.assertEqual(
            format_guard.problems_in(self.root, "clang-format", ["lib/good.cpp", "lib/bad.cpp"]),
            ["lib/bad.cpp:1: run clang-format -i lib/bad.cpp"],
        )


class Headers(Repository):
    def test_finds_a_header_that_leans_on_its_includer(self):
        leaning = "#pragma once\nstd::string f();\n"
        self.write(
            {
                "lib/a/good.h": "#pragma once\n#include <string>\nstd::string f();\n",
                "lib/a/bad.h": leaning,
                "lib/a/late.h": leaning,
                "lib/a/late.cpp": '#include <string>\n#include "a/late.h"\n',
                "lib/a/first.h": "#pragma once\n",
                "lib/a/first.cpp": '#include "a/first.h"\n',
            }
        )
        root = self.root.resolve()
        entries = []
        for name in ("late", "first"):
            command = f"c++ -std=c++20 -O2 -I{root}/lib -o {name}.o -c {root}/lib/a/{name}.cpp"
            entries.append({"directory": str(root), "command": command, "file": f"{root}/lib/a/{name}.cpp"})
        self.write({"build/compile_commands.json": json.dumps(entries)})
        found, count = headers.problems_in(root, root / "build")
        self.assertEqual(count, 3)  # first.h is shown by first.cpp, which includes it first
        self.assertEqual(
            [problem.split(":")[0] + problem.split(":")[1] for problem in found],
            ["lib/a/bad.h does not compile alone", "lib/a/late.h does not compile alone"],
        )


class Registered(Repository):
    def test_finds_sources_that_no_list_names(self):
        self.write(
            {
                "tests/a/CMakeLists.txt": "eflops_test(NAME a SOURCES x_test.cpp)\n# y_test.cpp\n",
                "tests/a/x_test.cpp": "TEST(A, " + "DISABLED" + "_B) {}\n",
                "tests/a/y_test.cpp": "",
            }
        )
        self.assertEqual(
            registered.source_problems(self.root),
            [
                "tests/a/x_test.cpp:1: a disabled test is no test",
                "tests/a/y_test.cpp: no CMakeLists.txt above it lists it",
            ],
        )

    def test_finds_tests_without_label_or_timeout(self):
        def entry(name, **properties):
            return {"name": name, "properties": [{"name": key, "value": value} for key, value in properties.items()]}

        listing = {
            "tests": [
                entry("good", LABELS=["unit"], TIMEOUT=10.0),
                entry("bare", TIMEOUT=1.0),
                entry("odd", LABELS=["quick"], TIMEOUT=1.0),
                entry("endless", LABELS=["cli"]),
                entry("x_test_NOT_BUILT"),
            ]
        }
        self.assertEqual(
            [problem.split(":")[0] for problem in registered.ctest_problems(listing)],
            ["bare", "odd", "endless", "x_test"],
        )
        self.assertEqual(registered.ctest_problems({"tests": []}), ["ctest knows no test"])


class ConfigsSmoke(Repository):
    def problem(self, config, script):
        self.write({"bin/eflops-x": script, "a.yaml": config})
        os.chmod(self.root / "bin" / "eflops-x", 0o755)
        with contextlib.redirect_stdout(io.StringIO()):
            return configs_smoke.problem_of(self.root / "a.yaml", self.root / "bin", timeout_s=5)

    def test_runs_program_and_verb_in_an_empty_folder(self):
        script = '#!/bin/sh\n[ "$1 $2" = "go --config" ] && [ -f "$3" ] && [ -z "$(ls)" ]\n'
        self.assertIsNone(self.problem("# comment\nprogram: x go\nseed: 1\n", script))

    def test_reports_failures(self):
        self.assertIn("exit 3: no data", self.problem("program: x\n", "#!/bin/sh\necho no data >&2\nexit 3\n"))
        self.assertIn("the first key must be", self.problem("seed: 1\nprogram: x\n", "#!/bin/sh\n"))
        self.assertIn("eflops-y, which is not built", self.problem("program: y\n", "#!/bin/sh\n"))


class CleanText(Repository):
    def test_refuses_each_kind(self):
        bad = {
            "machine path": "see /" + "work/x",
            "home": "cd '/" + "root/x'",
            "mark": "// TO" + "DO later",
            "host": "https:" + "//registry.invalid/x",
            "key": "-" * 5 + "BEGIN PRIVATE KEY",
            "conflict": "<" * 7 + " HEAD",
            "blank": "x ",
            "windows": "x\r",
        }
        for kind, line in bad.items():
            self.assertEqual(len(clean_text.line_problems("a:1", line)), 1, kind)

    def test_accepts_ordinary_lines(self):
        for line in (
            "https://arxiv.org/abs/1908.04577",
            "a/work/b",
            "the network/root/x",
            "${CMAKE}/root/a",
            "todo",
            "======="[:5],
        ):
            self.assertEqual(clean_text.line_problems("a:1", line), [], line)

    def test_refuses_large_files_and_missing_line_ends(self):
        self.write({"big.bin": "x" * (clean_text.SIZE_LIMIT + 1), "open.txt": "x"})
        self.assertEqual(
            [problem.split(":")[0] for problem in clean_text.problems_in(self.root)[0]], ["big.bin", "open.txt"]
        )


class Programs(Repository):
    def test_holds_programs_against_readme_and_docs(self):
        self.write(
            {
                "apps/CMakeLists.txt": "eflops_program(NAME eflops-a SOURCES a.cpp)\neflops_program(NAME eflops-b)\n",
                "README.md": "| `eflops-a` | does |\n| `eflops-c` | gone |\n",
                "docs/eflops-a.md": "x\n",
            }
        )
        self.assertEqual(
            programs.page_problems(self.root, programs.declared(self.root)),
            [
                "apps/CMakeLists.txt:2: eflops-b has no row in README.md's table of programs",
                "README.md: the table has a row for eflops-c, which no eflops_program declares",
                "apps/CMakeLists.txt:2: eflops-b has no page docs/eflops-b.md",
            ],
        )

    def test_holds_help_to_its_promises(self):
        self.write(
            {"eflops-a": "#!/bin/sh\necho 'exit codes: 0 done; --config FILE'\n", "eflops-b": "#!/bin/sh\nexit 4\n"}
        )
        for name in ("eflops-a", "eflops-b"):
            os.chmod(self.root / name, 0o755)
        self.assertEqual(
            programs.help_problems(self.root / "eflops-a"), ["eflops-a --help: does not mention --describe"]
        )
        self.assertIn("exit 4", programs.help_problems(self.root / "eflops-b")[0])


class Tree(Repository):
    def test_refuses_incomplete_and_contradictory_declarations(self):
        self.write({"lib/a/CMakeLists.txt": "eflops_module(NAME a SOURCES x.cpp)\n"})
        with self.assertRaisesRegex(ValueError, "a/CMakeLists.txt:1: eflops_module needs one NAME and one LEVEL"):
            tree.modules(self.root)
        self.write({"lib/a/CMakeLists.txt": "eflops_module(NAME a LEVEL 1)\neflops_module(NAME a LEVEL 2)\n"})
        with self.assertRaisesRegex(ValueError, "CMakeLists.txt:2: module a is declared otherwise"):
            tree.modules(self.root)

    def test_reads_lists_from_variables_of_the_same_file(self):
        text = (
            "set(uses tensor)\nif(X)\n  list(APPEND uses ops\n    nn)\nendif()\n"
            "eflops_module(NAME a LEVEL 4 USES ${uses} SOURCES ${other}/x.cpp)\n"
        )
        self.write({"lib/a/CMakeLists.txt": text})
        module = tree.modules(self.root)["a"]
        self.assertEqual((module.uses, module.where), (["tensor", "ops", "nn"], "lib/a/CMakeLists.txt:6"))

    def test_leaves_out_what_git_ignores(self):
        self.write({".gitignore": "*.pyc\n", "a.pyc": "", "a.py": "", "build/x.h": ""})
        self.git("init", "-q")
        self.assertEqual([str(name) for name in tree.files(self.root)], [".gitignore", "a.py"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
