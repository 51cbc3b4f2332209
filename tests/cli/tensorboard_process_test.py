#!/usr/bin/env python3
"""eflops-pretrain's event files, read by TensorBoard's own loader, hold what metrics.jsonl holds.

Skips (77) where no Python has the package `tensorboard`. usage: tensorboard_process_test.py BIN
"""

import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import time
import unittest

from processes import ProcessTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMOKE = ROOT / "configs" / "smoke"
READER = ROOT / "tests" / "cli" / "tensorboard_read.py"


def reading_python():
    """The first Python that can import tensorboard; None after printing why each could not."""
    installed = ROOT / "build" / "readers" / "bin" / "python"
    for python in (os.environ.get("EFLOPS_TENSORBOARD_PYTHON"), installed, "python3"):
        if not python:
            continue
        try:
            run = subprocess.run([python, READER], capture_output=True, text=True, timeout=120, check=False)
        except OSError as error:
            print(f"{python}: {error.strerror}")
            continue
        if run.returncode == 0:
            print(f"reading with tensorboard {run.stdout.strip()} of {python}")
            return python
        print(f"{python}: {(run.stderr.strip() or 'no output').splitlines()[-1]}")
    return None


def as_float(value):
    """A number of metrics.jsonl as an event file holds it: rounded to 32 bits."""
    return struct.unpack("f", struct.pack("f", value))[0]


class TensorBoard(ProcessTest):
    """Runs of the smoke experiment on shards of its own text."""

    python = None

    def setUp(self):
        super().setUp()
        program, self.program = self.program, os.path.join(os.path.dirname(self.program), "eflops-data")
        lines = (SMOKE / "text.txt").read_text(encoding="utf-8").splitlines()
        for name, half in (("train", lines[: len(lines) // 2]), ("held", lines[len(lines) // 2 :])):
            self.write(f"{name}.txt", "\n".join(half) + "\n")
            self.succeed("shard", f"{name}.txt", "--vocabulary", str(SMOKE / "vocab.txt"), "--output", name)
        self.program = program

    def pretrain(self, *words):
        """A run that ends well, of six steps, into the folder `run`."""
        text = ("--data.train", "train", "--data.held_out", "held", "--evaluate-every", "2", "--log-every", "1")
        self.succeed("--config", str(SMOKE / "pretrain.yaml"), *text, "--tensorboard", *words)

    def metrics(self):
        """{tag: {step: value}} of metrics.jsonl."""
        found = {}
        for line in self.read("run/metrics.jsonl").splitlines():
            values = json.loads(line)
            step, kind = values.pop("step"), values.pop("kind")
            for name, value in values.items():
                points = found.setdefault(f"{kind}/{name}", {})
                self.assertNotIn(step, points)
                points[step] = value
        return found

    def events(self):
        """{tag: [[step, wall time, value], ...]} as the loader sees it."""
        command = [self.python, READER, os.path.join(self.folder, "run", "tensorboard")]
        run = subprocess.run(command, capture_output=True, text=True, timeout=self.timeout_s, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def files(self):
        """The event files, as the loader orders them."""
        return sorted(os.listdir(os.path.join(self.folder, "run", "tensorboard")))

    def assert_events_are_the_metrics(self):
        """Every scalar of one is in the other, once; a number that JSON cannot hold is null there."""
        metrics, events = self.metrics(), self.events()
        self.assertEqual(sorted(events), sorted(metrics))
        for tag, points in events.items():
            self.assertEqual([step for step, _, _ in points], sorted(metrics[tag]), tag)
            for step, _, value in points:
                written = metrics[tag][step]
                if written is None:
                    self.assertFalse(math.isfinite(value), f"{tag} {step}")
                else:
                    self.assertEqual(value, as_float(written), f"{tag} {step}")
        return metrics, events

    def test_every_scalar_of_a_run(self):
        begin = time.time()
        self.pretrain("--output", "run")
        metrics, events = self.assert_events_are_the_metrics()
        self.assertEqual(sorted(metrics["train/loss"]), [1, 2, 3, 4, 5, 6])
        self.assertEqual(sorted(metrics["evaluation/masked_accuracy"]), [2, 4, 6])
        times = [at for _, at, _ in events["train/learning_rate"]]
        self.assertEqual(times, sorted(times))
        self.assertTrue(begin <= times[0] and times[-1] <= time.time(), times)
        self.assertEqual(len(self.files()), 1)

    def test_points_beyond_the_checkpoint_go_when_a_run_goes_on(self):
        self.pretrain("--output", "run")
        shutil.rmtree(os.path.join(self.folder, "run", "checkpoint-6"))
        first = os.path.join(self.folder, "run", "tensorboard", self.files()[0])
        os.truncate(first, os.path.getsize(first) - 1)  # as a killed process leaves it
        self.pretrain("--resume", "run", "--log-every", "2")
        metrics, _ = self.assert_events_are_the_metrics()
        self.assertEqual(sorted(metrics["train/loss"]), [1, 2, 3, 4, 6])  # 3 is the step of the checkpoint
        self.assertEqual(len(self.files()), 2)

    def test_numbers_that_are_not_finite(self):
        self.pretrain("--output", "run", "--learning-rate", "1e4", "--on-nan", "skip")
        metrics, _ = self.assert_events_are_the_metrics()
        self.assertIn(None, metrics["evaluation/masked_perplexity"].values())

    def test_no_event_files_unless_asked_for(self):
        self.pretrain("--output", "run", "--no-tensorboard")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "run", "tensorboard")))


if __name__ == "__main__":
    TensorBoard.program = os.path.join(sys.argv.pop(), "eflops-pretrain")
    TensorBoard.python = reading_python()
    if TensorBoard.python is None:
        print("tensorboard_process_test: skipped, no Python has tensorboard (scripts/install-deps test)")
        sys.exit(77)
    unittest.main()
