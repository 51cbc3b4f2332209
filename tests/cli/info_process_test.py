#!/usr/bin/env python3
"""eflops-info as users run it. usage: info_process_test.py BIN"""

import json
import os
import sys
import unittest

from processes import ProcessTest


class Info(ProcessTest):
    """Summary, build and peak."""

    def test_without_arguments_it_describes_the_machine_and_says_what_else(self):
        text = self.succeed()
        for word in ("host", "cpu", "cores", "memory", "precisions", "transports", "compiler", "eflops-info peak"):
            self.assertIn(word, text)

    def test_build_names_every_library_with_its_version(self):
        self.assertRegex(self.succeed("build"), r"libraries  fmt \d+\.\d+\.\d+, .*hwloc \d")

    def test_provenance_is_what_a_record_says(self):
        found = json.loads(self.succeed("provenance"))
        self.succeed("peak", "--measure", "bandwidth", "--repeats", "1", "--megabytes", "4", "--record", "p.jsonl", "-q")
        recorded = json.loads(self.read("p.jsonl"))["provenance"]
        self.assertEqual({**found, "load": 0}, {**recorded, "load": 0})

    def test_peak_writes_a_record_with_raw_samples(self):
        text = self.succeed(
            "peak", "--measure", "bandwidth", "--repeats", "3", "--megabytes", "4", "--record", "peak.jsonl", "-q"
        )
        self.assertRegex(text, r"memory_bandwidth +core +1 ")
        lines = self.read("peak.jsonl").splitlines()
        self.assertEqual(len(lines), 1)
        record = json.loads(lines[0])
        self.assertEqual(record["schema"], 1)
        self.assertEqual(record["status"], "complete")
        self.assertEqual(record["verification"]["outcome"], "passed")
        self.assertEqual(record["program"], "eflops-info peak")
        names = {measurement["name"] for measurement in record["measurements"]}
        self.assertEqual(names, {f"memory_bandwidth.{scope}" for scope in ("core", "socket", "all")})
        for measurement in record["measurements"]:
            self.assertEqual(measurement["unit"], "GB/s")
            self.assertEqual(len(measurement["samples"]), 3)
        for key in ("git_commit", "git_dirty", "host", "cpu", "load", "compiler", "flags", "libraries", "threads"):
            self.assertIn(key, record["provenance"])
        self.assertIn("--measure bandwidth", record["command"])

    def test_records_are_appended(self):
        words = ["peak", "--measure=bandwidth", "-n1", "--megabytes=1", "--record=peak.jsonl"]
        self.succeed(*words)
        self.succeed(*words)
        self.assertEqual(len(self.read("peak.jsonl").splitlines()), 2)

    def test_dry_run_measures_nothing(self):
        text = self.succeed("peak", "--dry-run", "--record", "peak.jsonl")
        self.assertIn("nothing was done", text)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "peak.jsonl")))

    def test_threads_bound_to_too_few_cores_are_said_with_what_mends_it(self):
        run = self.run_program(env={"OMP_NUM_THREADS": "512"})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"warning: 512 threads on \d+ cores: .*set OMP_NUM_THREADS=\d+")

    def test_a_folder_that_is_not_there_is_a_data_error(self):
        line = self.fail_with(3, "peak", "--record", "absent/peak.jsonl")
        self.assertEqual(line, "eflops-info: absent: the folder of the record does not exist")


if __name__ == "__main__":
    Info.program = os.path.join(sys.argv.pop(), "eflops-info")
    unittest.main()
