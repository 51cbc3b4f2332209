#!/usr/bin/env python3
"""eflops-data as users run it: from text to a vocabulary, shards and instances. usage: data_process_test.py BIN"""

import os
import sys
import unittest

from processes import ProcessTest

TEXT = "\n\n".join(
    "\n".join(f"the {color} {animal} sees a {other} near the river" for other in ("fish", "bird", "frog", "snake"))
    for color in ("red", "blue", "green")
    for animal in ("cat", "dog", "cow")
)


class Data(ProcessTest):
    """The verbs in the order in which a user needs them."""

    def test_from_text_to_instances(self):
        self.write("text.txt", TEXT + "\n")
        self.assertIn("no shards and no vocabulary", self.succeed())
        self.succeed("train-vocab", "text.txt", "--output", "vocab", "--vocabulary-size", "60")
        self.succeed("shard", "text.txt", "--vocabulary", "vocab", "--output", "shards", "--format", "sentences")
        here = self.succeed()
        self.assertIn("shards: 1 shard, 9 documents,", here)
        self.assertIn("vocab: vocabulary vocab.txt", here)
        self.assertIn("river", self.succeed("stat", "shards"))
        self.assertIn("ok", self.succeed("check", "shards"))
        self.assertIn("[CLS]", self.succeed("dump", "shards", "--count", "1"))

    def test_an_experiment_file_does_the_same_as_flags(self):
        self.write("text.txt", TEXT + "\n")
        self.write("vocab.yaml", "program: eflops-data train-vocab\ninput: [text.txt]\noutput: one\nvocabulary_size: 60\n")
        self.succeed("--config", "vocab.yaml")
        self.succeed("train-vocab", "--input", "text.txt", "-o", "two", "--vocabulary_size=60")
        self.assertEqual(self.read("one/vocab.txt"), self.read("two/vocab.txt"))

    def test_missing_and_damaged_data_are_data_errors(self):
        self.assertIn("absent.txt", self.fail_with(3, "train-vocab", "absent.txt", "--output", "vocab", "-q"))
        self.assertIn("absent", self.fail_with(3, "stat", "absent"))
        self.write("shards/manifest.json", "{}")
        self.assertIn("no shards of ours", self.succeed())

    def test_every_verb_has_help(self):
        for verb in ("train-vocab", "shard", "tokenize", "stat", "check", "dump"):
            self.assertIn(f"usage: eflops-data {verb} [input...]", self.succeed(verb, "--help"))


if __name__ == "__main__":
    Data.program = os.path.join(sys.argv.pop(), "eflops-data")
    unittest.main()
