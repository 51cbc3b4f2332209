#!/usr/bin/env python3
"""How runs of eflops-pretrain end, as their records tell. usage: pretrain_process_test.py BIN"""

import json
import os
import resource
import signal
import sys
import unittest

from processes import ProcessTest

RUN = [
    *("--data", "synthetic", "--synthetic-vocabulary", "50", "--size", "custom", "--layers", "1", "--hidden", "16"),
    *("--heads", "2", "--intermediate", "32", "--positions", "32", "--max-seq-length", "32", "--batch.size", "4"),
    *("--measure-peak", "false", "--threads", "1", "--output", "run"),
]


class Pretrain(ProcessTest):
    """Synthetic text and a model of one layer."""

    def records(self):
        """Every record that the run left."""
        return [json.loads(line) for line in self.read("run/records.jsonl").splitlines()]

    def test_a_complete_record_names_what_was_verified(self):
        self.succeed(*RUN, "--steps", "3")
        (record,) = self.records()
        self.assertEqual(record["status"], "complete")
        self.assertEqual(
            record["verification"],
            {"method": "finite losses, data cover, checkpoint checksums", "outcome": "passed"},
        )

    def test_a_measured_peak_gives_the_record_a_utilisation(self):
        self.succeed(*RUN, "--steps", "3", "--measure-peak", "true")
        facts = self.records()[0]["facts"]
        self.assertGreater(facts["peak_flops"], 0)
        self.assertGreater(facts["mfu"], 0)
        self.assertLess(facts["mfu"], 1)

    def test_a_loss_that_is_not_finite_ends_the_run_and_is_recorded(self):
        run = self.run_program(*RUN, "--steps", "20", "--schedule.learning-rate", "1e30", "--warmup-steps", "0")
        self.assertEqual(run.returncode, 1, run.stderr)
        (record,) = self.records()
        self.assertEqual((record["status"], record["verification"]["outcome"]), ("failed", "failed"))
        self.assertIn(record["facts"]["error"], run.stderr)
        self.assertRegex(record["facts"]["error"], r"^step \d+: .* of step \d+ are untouched$")
        self.assertFalse([name for name in os.listdir(os.path.join(self.folder, "run")) if "checkpoint" in name])

    def test_a_failure_of_saving_is_recorded_without_a_verdict_on_the_numbers(self):
        def small_files():  # larger ones than 8 KiB fail as on a full disk; the record is smaller
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        run = self.run_program(*RUN, "--steps", "3", preexec_fn=small_files)
        self.assertEqual(run.returncode, 3, run.stderr)
        (record,) = self.records()
        self.assertEqual((record["status"], record["verification"]["outcome"]), ("failed", "none"))
        self.assertIn(record["facts"]["error"], run.stderr)
        self.assertFalse([name for name in os.listdir(os.path.join(self.folder, "run")) if "checkpoint" in name])


if __name__ == "__main__":
    Pretrain.program = os.path.join(os.path.abspath(sys.argv.pop()), "eflops-pretrain")
    unittest.main(argv=[sys.argv[0], "-v"])
