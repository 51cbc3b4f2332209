#!/usr/bin/env python3
"""eflops-run as users run it. usage: run_process_test.py BIN"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from processes import ProcessTest

SWEEP = """program: eflops-bench allreduce
begin: 1K
end: 1K
iterations: 3
place: out
experiment:
  launches: 2
  sweep:
    product:
      transport: [shm, tcp]
"""

# Stands in for a program: does what the option `map_file` of its configuration says, once the options are valid.
STAND_IN = """#!/usr/bin/env python3
import signal, sys, time
text = open(sys.argv[sys.argv.index("--config") + 1]).read()
options = dict(line.split(": ", 1) for line in text.splitlines())
if "--dry-run" in sys.argv:
    sys.exit(0)
what = options["map_file"]
print("about to", what)
if what == "sleep":
    signal.signal(signal.SIGUSR1, lambda *_: sys.exit(75))
    time.sleep(600)
if what == "break":
    print("broken here")
    sys.exit(4)
if what != "nothing":
    record = open("record.json").read().replace('"complete"', '"failed"' if what == "lie" else '"complete"')
    record = record.replace('"passed"', '"failed"' if what == "lie" else '"passed"')
    open(options["record"].strip('"'), "a").write(record)
"""


class Run(ProcessTest):
    """Experiments that end well, badly, late, or not at all."""

    def records(self, name):
        """The records of an experiment."""
        return [json.loads(line) for line in self.read(f"runs/{name}/records.jsonl").splitlines()]

    def stand_in(self, *deeds, **options):
        """An experiment with a point for each deed of a program that stands in for eflops-bench."""
        if not os.path.exists(os.path.join(self.folder, "bin")):
            os.mkdir(os.path.join(self.folder, "bin"))
            shutil.copy(self.program, os.path.join(self.folder, "bin", "eflops-run"))
            self.write("bin/eflops-bench", STAND_IN)
            os.chmod(os.path.join(self.folder, "bin", "eflops-bench"), 0o755)
            bench = os.path.join(os.path.dirname(self.program), "eflops-bench")
            subprocess.run([bench, "-b", "8", "-e", "8", "-n", "2", "--ranks", "1", "--place", "out", "--record", "record.json"],
                           cwd=self.folder, env=self.environment(), stdout=subprocess.DEVNULL, check=True)  # fmt: skip
        text = "program: eflops-bench allreduce\nexperiment:\n"
        text += "".join(f"  {key}: {value}\n" for key, value in options.items())
        text += f"  sweep:\n    product:\n      map_file: [{', '.join(deeds)}]\n"
        self.write("deeds.yaml", text)
        return [os.path.join(self.folder, "bin", "eflops-run"), "run", "deeds.yaml"]

    def call(self, words):
        """The finished process of other words than our program's."""
        return subprocess.run(words, cwd=self.folder, env=self.environment(), capture_output=True, text=True,
                              timeout=self.timeout_s, check=False)  # fmt: skip

    def test_every_point_runs_once_and_its_records_are_kept(self):
        self.write("two.yaml", SWEEP)
        self.assertIn("# two: eflops-bench allreduce of 2 points x 2 launches, 0 of 4 complete", self.succeed("list", "two.yaml"))
        self.assertEqual(self.succeed("check", "two"), "two: 2 points x 2 launches of eflops-bench allreduce are valid\n")
        self.assertIn("1 rows; largest buffers 2 x 1.0 KiB a rank", self.succeed("estimate", "two.yaml"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))
        self.assertIn("no experiment in runs/ here", self.succeed())
        text = self.succeed("run", "two.yaml")
        self.assertEqual(text.count(": complete in "), 4)
        records = self.records("two")
        self.assertEqual([record["facts"]["transport"] for record in records], ["shm", "tcp", "shm", "tcp"])
        self.assertEqual(len({record["facts"]["launch"] for record in records}), 4)
        again = self.succeed("run", "two.yaml")
        self.assertEqual(again.count(": complete already"), 4)
        self.assertEqual(self.records("two"), records)
        self.assertIn("4 of 4 complete", self.succeed("list", "two.yaml"))
        self.assertEqual(self.succeed(), "runs/two: 4 of 4 complete  (2 points x 2 launches of eflops-bench allreduce)\n")
        self.write("two.yaml", SWEEP.replace("1K", "2K"))
        self.assertIn("is of another version of two.yaml", self.fail_with(2, "run", "two.yaml"))
        self.assertEqual(self.records("two"), records)
        self.succeed("run", "two.yaml", "--overwrite")
        self.assertEqual({record["facts"]["size_bytes"] for record in self.records("two")}, {2048})

    def test_the_program_takes_the_same_file(self):
        self.write("two.yaml", SWEEP)
        bench = os.path.join(os.path.dirname(self.program), "eflops-bench")
        run = self.call([bench, "--config", "two.yaml", "--dry-run"])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("two.yaml: has a sweep", run.stderr)

    def test_a_bad_point_is_said_before_any_runs(self):
        self.write("bad.yaml", SWEEP.replace("[shm, tcp]", "[shm, smoke]"))
        line = self.run_program("run", "bad.yaml")
        self.assertEqual(line.returncode, 2)
        self.assertIn("point 'transport=smoke': eflops-bench: ", line.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs/bad/points")))
        self.write("bad.yaml", SWEEP.replace("launches", "lunches"))
        self.assertIn("bad.yaml:7: unknown option 'lunches'", self.fail_with(2, "list", "bad.yaml"))
        self.assertIn("a file is expected", self.fail_with(2, "list"))

    def test_an_exit_status_of_0_alone_is_not_success(self):
        run = self.call(self.stand_in("record", "nothing", "lie", "break", retry=1))
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("map_file=nothing  launch 1: failed in", run.stdout)
        self.assertIn("it left no record", run.stdout)
        self.assertIn("a record says that it failed", run.stdout)
        self.assertIn("exit status 4: broken here", run.stdout)
        self.assertIn("3 of 4 are not complete, the first [2/4] map_file=nothing", run.stderr)
        self.assertEqual([record["status"] for record in self.records("deeds")], ["complete", "failed", "failed", "failed"])
        self.assertEqual(self.records("deeds")[3]["facts"]["attempts"], 2)
        self.assertEqual(self.read("runs/deeds/points/00004-launch-1/output.txt").count("broken here"), 2)

    def test_a_point_that_takes_too_long_is_ended_and_the_next_ones_run(self):
        run = self.call(self.stand_in("sleep", "record", timeout=1))
        self.assertEqual(run.returncode, 1)
        self.assertIn("map_file=sleep  launch 1: timeout in ", run.stdout)
        self.assertEqual([record["status"] for record in self.records("deeds")], ["timeout", "complete"])

    def test_a_stop_is_passed_on_and_the_next_call_goes_on(self):
        words = self.stand_in("record", "sleep")
        with subprocess.Popen(words, cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
            output = os.path.join(self.folder, "runs/deeds/points/00002-launch-1/output.txt")
            end = time.monotonic() + 60
            while not os.path.exists(output) and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, stderr)
        self.assertIn("map_file=sleep  launch 1: interrupted in ", stdout)
        self.assertIn("stopped by SIGTERM; the same command goes on", stderr)
        again = self.call([words[0], "list", "deeds.yaml"])
        self.assertIn("1 of 2 complete", again.stdout)


if __name__ == "__main__":
    Run.program = os.path.join(sys.argv.pop(1), "eflops-run")
    unittest.main()
