"""Running a program of ours in a folder of its own, for the tests of this folder."""

import os
import subprocess
import tempfile
import unittest


class ProcessTest(unittest.TestCase):
    """Each test has a fresh current folder, and an environment without EFLOPS_* variables."""

    program = ""
    timeout_s = 120

    def setUp(self):
        self._temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self._temporary.cleanup)
        self.folder = self._temporary.name

    def write(self, name, text):
        """A file in the current folder of the test."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)

    def read(self, name):
        """The text of a file there."""
        with open(os.path.join(self.folder, name), encoding="utf-8") as source:
            return source.read()

    def environment(self, extra=None):
        """This process's environment without what would change an option."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("EFLOPS_")}
        return {**clean, **(extra or {})}

    def run_program(self, *words, env=None, **keywords):
        """The finished process, with its output as text."""
        return subprocess.run(
            [self.program, *words],
            cwd=self.folder,
            env=self.environment(env),
            capture_output=True,
            text=True,
            timeout=self.timeout_s,
            stdin=subprocess.DEVNULL,
            check=False,
            **keywords,
        )

    def succeed(self, *words, env=None):
        """Standard output of a call that ends with 0."""
        run = self.run_program(*words, env=env)
        self.assertEqual(run.returncode, 0, f"{words}: {run.stderr}")
        return run.stdout

    def fail_with(self, code, *words, env=None):
        """The one line on stderr of a call that ends with this code and prints nothing else."""
        run = self.run_program(*words, env=env)
        self.assertEqual(run.returncode, code, f"{words}: {run.stdout}{run.stderr}")
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 1, run.stderr)
        return lines[0]
