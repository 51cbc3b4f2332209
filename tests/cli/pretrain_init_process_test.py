#!/usr/bin/env python3
"""eflops-pretrain --init-from as users run it. usage: pretrain_init_process_test.py BIN"""

import json
import os
import shutil
import sys
import unittest

from processes import ProcessTest

TEXT = "\n\n".join(
    "\n".join(f"the {color} {animal} sees a {other} near the river" for other in ("fish", "bird", "frog", "snake"))
    for color in ("red", "blue", "green")
    for animal in ("cat", "dog", "cow")
)
SMALL = ["--max-seq-length", "32", "--batch.size", "4", "--measure-peak", "false", "--threads", "1"]
SIZES = ["--layers", "1", "--hidden", "16", "--heads", "2", "--intermediate", "32", "--positions", "32"]


class PretrainInit(ProcessTest):
    """Each test starts from a checkpoint of two steps, copied to bert/."""

    data = ""

    def setUp(self):
        super().setUp()
        self.write("text.txt", TEXT + "\n")
        self.data = os.path.join(os.path.dirname(self.program), "eflops-data")
        self.run_data("train-vocab", "text.txt", "--output", "vocab", "--vocabulary-size", "60")
        self.run_data("shard", "text.txt", "--vocabulary", "vocab", "--output", "shards", "--format", "sentences")
        self.succeed("--data", "shards", "--size", "custom", *SIZES, *SMALL, "--steps", "2", "--output", "first", "-q")
        shutil.copytree(self.path("first/checkpoint-2"), self.path("bert"))

    def path(self, name):
        """A file of the test's folder."""
        return os.path.join(self.folder, name)

    def run_data(self, *words):
        """eflops-data in the same folder."""
        pretrain, self.program = self.program, self.data
        try:
            self.succeed(*words, "-q")
        finally:
            self.program = pretrain

    def start(self, *words):
        """The finished process of a run that starts from bert/."""
        return self.run_program("--data", "shards", *SMALL, "--init-from", "bert", *words)

    def facts(self, run):
        """The facts of the newest record of a run."""
        return json.loads(self.read(f"{run}/records.jsonl").splitlines()[-1])["facts"]

    def test_what_was_loaded_is_logged_and_recorded(self):
        run = self.start("--steps", "2", "--output", "second", "--arm", "bert")
        self.assertEqual(run.returncode, 0, run.stderr)
        made = "cls.seq_relationship.weight, cls.seq_relationship.bias"
        self.assertIn(f"missing, made anew: {made}", run.stderr)
        facts = self.facts("second")
        self.assertEqual(facts["init_made_anew"], made.replace(" ", ""))
        self.assertEqual(facts["init_from"], "bert")
        self.assertRegex(facts["init_checksum"], "^[0-9a-f]{16}$")
        self.assertIn("layers: 1  # bert/config.json", self.read("second/config.yaml"))

    def test_dry_run_shows_what_would_be_loaded_and_does_nothing(self):
        run = self.start("--dry-run", "--output", "second")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"weights: bert: \d+ tensors used; ignored: none; missing, made anew: none")
        self.assertFalse(os.path.exists(self.path("second")))

    def test_an_experiment_of_its_own_config_repeats_the_run(self):
        self.assertEqual(self.start("--steps", "2", "--output", "second").returncode, 0)
        self.succeed("--config", "second/config.yaml", "--output", "third", "-q")
        weights = []
        for run in ("second", "third"):
            with open(self.path(f"{run}/checkpoint-2/model.safetensors"), "rb") as source:
                weights.append(source.read())
        self.assertEqual(*weights)

    def test_a_resumed_run_needs_the_directory_no_more(self):
        steps = ["--steps", "4", "--save-every", "2"]
        self.assertEqual(self.start(*steps, "--output", "whole").returncode, 0)
        self.assertEqual(self.start(*steps, "--output", "parts").returncode, 0)
        shutil.rmtree(self.path("parts/checkpoint-4"))
        os.rename(self.path("bert"), self.path("elsewhere"))
        run = self.start(*steps, "--resume", "parts")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("bert is gone; parts goes on from its own checkpoint", run.stderr)
        self.assertIn("resumed at step 2", run.stderr)
        shutil.rmtree(self.path("parts/checkpoint-4"))
        run = self.start(*steps, "--resume", "parts", "--init-from", "elsewhere")
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("whole", "parts"):
            self.assertTrue(os.path.exists(self.path(f"{name}/checkpoint-4")))
        self.assertEqual(self.facts("whole")["loss"], self.facts("parts")["loss"])

    def test_a_run_is_not_resumed_from_other_weights(self):
        self.assertEqual(self.start("--steps", "2", "--output", "second").returncode, 0)
        words = ["--data", "shards", *SMALL, "--steps", "2", "-q"]
        self.succeed(*words, "--size", "custom", *SIZES, "--steps", "1", "--output", "other")
        line = self.fail_with(2, *words, "--init-from", "other/checkpoint-1", "--resume", "second")
        self.assertRegex(line, "init_checksum: was [0-9a-f]{16}, now [0-9a-f]{16}")

    def test_a_size_that_disagrees_is_refused_before_anything_is_written(self):
        words = ["--data", "shards", *SMALL, "--init-from", "bert", "--output", "second"]
        line = self.fail_with(2, *words, "--layers", "2")
        self.assertIn("model.layers is 2 (flag --layers), but num_hidden_layers of bert/config.json is 1", line)
        self.write("bert/vocab.txt", self.read("bert/vocab.txt").replace("river", "rivet"))
        self.assertIn("'rivet', the text's 'river'", self.fail_with(3, *words))
        self.assertIn("no folder with a config.json", self.fail_with(2, *words, "--init-from", "absent"))
        self.assertFalse(os.path.exists(self.path("second")))


if __name__ == "__main__":
    PretrainInit.program = os.path.join(sys.argv.pop(), "eflops-pretrain")
    unittest.main()
