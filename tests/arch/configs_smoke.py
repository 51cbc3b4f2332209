#!/usr/bin/env python3
"""Guard: every experiment under configs/smoke runs to exit 0, alone, in an empty folder.

usage: configs_smoke.py REPOSITORY BIN
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import tree

TIMEOUT_S = 120


def command_of(config, text, binaries):
    """The command line of an experiment, from its first key `program: NAME [VERB]`; raises ValueError without one."""
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith(("#", "---")):
            match = re.fullmatch(r"program:\s*(?:eflops-)?([a-z]+)((?:\s+[a-z-]+)*)\s*(?:#.*)?", line)
            if not match:
                break
            program = pathlib.Path(binaries) / f"eflops-{match.group(1)}"
            if not program.is_file():
                raise ValueError(f"{config}: names {program.name}, which is not built")
            return [str(program), *match.group(2).split(), "--config", str(config)]
    raise ValueError(f"{config}: the first key must be `program:`, as in `program: pretrain`")


def problem_of(config, binaries, timeout_s=TIMEOUT_S):
    """Runs one experiment in a temporary folder; what went wrong, or None."""
    try:
        command = command_of(config, config.read_text(), binaries)
    except ValueError as error:
        return str(error)
    with tempfile.TemporaryDirectory() as folder:
        # An experiment names its files from the repository's root.
        if config.parent.name == "smoke":
            (pathlib.Path(folder) / "configs").symlink_to(config.parent.parent)
        begin = time.monotonic()
        try:
            run = subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=timeout_s,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "OMP_WAIT_POLICY": "passive"},
            )
        except subprocess.TimeoutExpired:
            return f"{config}: still running after {timeout_s} s; a smoke experiment takes seconds"
        if run.returncode != 0:
            return f"{config}: exit {run.returncode}: {run.stderr.strip()[-600:]}"
        print(f"{config.name}: ok, {time.monotonic() - begin:.1f} s")
    return None


def main():
    configs = sorted((pathlib.Path(sys.argv[1]) / "configs" / "smoke").resolve().glob("**/*.yaml"))
    problems = [problem for problem in (problem_of(config, sys.argv[2]) for config in configs) if problem]
    return tree.report(
        "configs_smoke", problems if configs else ["configs/smoke holds no *.yaml"], f"{len(configs)} experiments"
    )


if __name__ == "__main__":
    sys.exit(main())
