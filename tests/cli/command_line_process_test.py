#!/usr/bin/env python3
"""The command line every program has, through the built sample program. usage: command_line_process_test.py PROGRAM"""

import itertools
import json
import re
import signal
import subprocess
import sys
import unittest

from processes import ProcessTest


class CommandLine(ProcessTest):
    """What users type and what comes back."""

    def shown(self, *words, env=None):
        """path -> (value, source) of `show`."""
        values = {}
        for line in self.succeed("show", *words, env=env).splitlines():
            match = re.fullmatch(r"(\S+) = (.*)  # (.*)", line)
            if match:
                values[match.group(1)] = match.groups()[1:]
        return values

    def test_without_arguments_it_does_something_and_says_what_else(self):
        self.assertEqual(self.succeed(), "hello; next: eflops-sample --help\n")

    def test_values_that_begin_with_a_dash(self):  # C29
        for words in (["--count", "-10"], ["--count=-10"], ["-n", "-10"], ["-n-10"], ["count=-10"]):
            self.assertEqual(self.shown(*words)["count"][0], "-10", words)
        self.assertEqual(self.shown("--count", "-1")["count"][0], "-1")
        self.assertIn("out of range (valid: 0 to 1)", self.fail_with(2, "show", "--lr", "-.5"))
        self.assertIn("out of range (valid: 0 to 1)", self.fail_with(2, "show", "--lr=-.5"))

    def test_values_keep_every_character(self):
        for value in ("", "[MASK]", "[a,b]", "'", '"', "a=b", "-x", "%s {}", "\u00e9", "a\\b", "#", "=", " "):
            shown = self.shown(f"--text={value}")["text"][0]
            self.assertEqual(json.loads(shown) if shown.startswith('"') else shown, value)

    def test_lists_are_separated_by_commas_or_repeated(self):
        shown = self.shown("--input", "a,b", "c,d.txt", "--input=e")
        self.assertEqual(shown["input"], ('[a, b, "c,d.txt", e]', "flag --input"))

    def test_switches(self):
        for words, value in (
            (["--verbose"], "true"),
            (["--verbose=false"], "false"),
            (["--no-verbose"], "false"),
            (["--verbose", "--no-verbose"], "false"),
            (["--verbose", "True"], "true"),
        ):
            self.assertEqual(self.shown(*words)["verbose"][0], value, words)

    def test_numbers_that_other_parsers_misread_are_errors(self):  # C25, C26, C28
        self.assertEqual(
            self.fail_with(2, "show", "--model.layers", "-15850"),
            "eflops-sample: flag --model.layers: model.layers is -15850: out of range (valid: 1 to 96)",
        )
        for bad, reason in (("0010", "leading zeros"), ("0o10", "not an integer"), ("8x", "not an integer")):
            self.assertIn(f"model.layers is '{bad}': {reason}", self.fail_with(2, "show", f"--model.layers={bad}"))
        self.assertEqual(self.shown("--model.layers=8")["model.layers"][0], "8")

    def test_precedence_is_default_config_environment_flag(self):
        self.write("a.yaml", "program: eflops-sample show\ncount: 10\n")
        self.write("configs/b.yaml", "text: kept\ncount: 11\n")
        for config, environment, flag in itertools.product((False, True), repeat=3):
            words = (["--config", "a.yaml", "--config", "b"] if config else []) + (["-n", "13"] if flag else [])
            shown = self.shown(*words, env={"EFLOPS_COUNT": "12"} if environment else {})
            if flag:
                self.assertEqual(shown["count"], ("13", "flag -n"))
            elif environment:
                self.assertEqual(shown["count"], ("12", "environment EFLOPS_COUNT"))
            elif config:
                self.assertEqual(shown["count"], ("11", "configs/b.yaml:2"))
            else:
                self.assertEqual(shown["count"], ("8", "default"))
            self.assertEqual(shown["text"][0], "kept" if config else '""')

    def test_unknown_names_get_one_line_with_the_nearest(self):
        self.assertEqual(
            self.fail_with(2, "show", "--lerning-rate", "1"),
            "eflops-sample: unknown option --lerning-rate; did you mean --learning_rate?",
        )
        self.assertEqual(
            self.fail_with(2, "shwo"),
            "eflops-sample: unknown verb 'shwo'; did you mean 'show'? (verbs: show, try-estimate, throw)",
        )
        self.assertIn("--optimizer.layers, --model.layers", self.fail_with(2, "show", "--layers=2"))
        self.assertIn("unexpected 'extra'", self.fail_with(2, "try-estimate", "extra"))

    def test_an_unknown_variable_is_warned_about_and_reserved_ones_are_not(self):
        run = self.run_program("show", env={"EFLOPS_CUONT": "1", "EFLOPS_DATA": "x", "EFLOPS_BIN_DIR": "y"})
        self.assertEqual(run.returncode, 0)
        self.assertIn("EFLOPS_CUONT is set but names no option here; did you mean EFLOPS_COUNT?", run.stderr)
        self.assertEqual(run.stderr.count("EFLOPS_"), 2, run.stderr)

    def test_errors_of_files_name_file_and_line(self):
        self.write("bad.yaml", "program: eflops-sample show\nmodel:\n  layers: 0010\n")
        self.assertIn("bad.yaml:3: model.layers is '0010'", self.fail_with(2, "show", "--config", "bad.yaml"))
        self.write("bad.yaml", "program: eflops-sample show\nmodel:\n  lyers: 3\n")
        self.assertIn(
            "bad.yaml:3: unknown option 'model.lyers'; did you mean 'model.layers'?",
            self.fail_with(2, "show", "--config=bad"),
        )
        self.write("bad.yaml", "count: 1\ncount: 2\n")
        self.assertIn("bad.yaml:2: count: repeated key; first on line 1", self.fail_with(2, "show", "--config=bad"))
        self.write("bad.yaml", "program: eflops-pretrain\n")
        self.assertEqual(
            self.fail_with(2, "show", "--config=bad"),
            "eflops-sample: bad.yaml:1: program: is 'eflops-pretrain', but this is 'eflops-sample show'",
        )
        self.assertIn("no experiment file 'absent'", self.fail_with(2, "show", "--config", "absent"))

    def test_the_verb_may_come_from_the_file(self):
        self.write("run.yaml", "program: sample show\ncount: 21\n")
        self.assertIn("count = 21  # run.yaml:2", self.succeed("--config", "run.yaml"))

    def test_dump_config_repeats_the_run(self):
        dumped = self.succeed("show", "--lr", "0.5", "a.txt", "--text", "it's: #1", "--dump-config")
        self.assertTrue(dumped.startswith("program: eflops-sample show\n"), dumped)
        self.assertIn("learning_rate: 0.5  # flag --lr", dumped)
        self.assertIn("count: 8  # default", dumped)
        self.write("dumped.yaml", dumped)
        again = self.succeed("--config", "dumped.yaml", "--dump-config")
        strip = lambda text: re.sub(r"  # [^#]*$", "", text, flags=re.M)
        self.assertEqual(strip(again), strip(dumped))

    def test_help_teaches(self):
        text = self.succeed("show", "--help")
        self.assertEqual(text, self.succeed("show", "-h"))
        self.assertEqual(text, self.succeed("show", "--bogus", "--help"))
        self.assertIn("exit codes:", text)
        self.assertIn("0 to 1; also --learning_rate", text)
        self.assertIn("show", self.succeed("--help"))

    def test_describe_covers_every_option_in_both_forms(self):
        described = json.loads(self.succeed("show", "--describe=json"))
        options = described["verbs"][0]["options"]
        paths = [option["path"] for option in options]
        self.assertEqual(sorted(paths), sorted(self.shown()))
        text = self.succeed("show", "--describe")
        for option in options:
            self.assertIn(f"{option['path']} = {option['default']}  (", text)
            self.assertIn(option["help"], text)
        every = json.loads(self.succeed("--describe=json"))
        self.assertEqual([verb["verb"] for verb in every["verbs"]], ["", "show", "try-estimate", "throw"])

    def test_every_flag_that_describe_names_works(self):
        samples = {"integer": "3", "number": "0.25", "text": "word", "list of text": "word", "bool": "true"}
        for option in json.loads(self.succeed("show", "--describe=json"))["verbs"][0]["options"]:
            value = option["choices"][-1] if option["choices"] else samples[option["type"]]
            for flag in option["flags"]:
                shown = self.shown(f"{flag}={value}")[option["path"]]
                self.assertIn(value, shown[0])
                self.assertEqual(shown[1], f"flag {flag}")
            if option["environment"]:
                shown = self.shown(env={option["environment"]: value})[option["path"]]
                self.assertEqual(shown[1], f"environment {option['environment']}")

    def test_dry_run_estimates_and_runs_nothing(self):
        self.assertNotIn("count =", self.succeed("show", "--dry-run"))
        self.assertTrue(self.succeed("try-estimate", "--dry-run").startswith("would take 3 s\n"))
        self.assertIn("0010", self.fail_with(2, "show", "--dry-run", "--count", "0010"))

    def test_version_and_build(self):
        self.assertRegex(self.succeed("--version"), r"^eflops-sample \d+\.\d+\.\d+\n$")
        for word in ("commit", "compiler", "flags", "yaml-cpp"):
            self.assertIn(word, self.succeed("show", "--build-info"))

    def test_quiet_keeps_results_and_drops_notes(self):
        loud, quiet = self.run_program("show"), self.run_program("show", "-q")
        self.assertIn("an info line", loud.stderr)
        self.assertEqual(quiet.stderr, "")
        self.assertIn("count = 8", quiet.stdout)

    def test_the_command_can_be_pasted_again(self):
        typed = ["show", "--text", "it's \"so\" $HOME", "a b.txt", "--count=3"]
        command = self.succeed(*typed).splitlines()[-1].removeprefix("command = eflops-sample ")
        words = subprocess.run(
            ["sh", "-c", f"printf '%s\\n' {command}"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        self.assertEqual(words, typed)

    def test_each_class_of_error_has_its_exit_code(self):
        for kind, code, text in (
            ("check", 1, "slower than the baseline"),
            ("config", 2, "bad option"),
            ("data", 3, "bad file  name"),
            ("comm", 4, "peer gone"),
            ("timeout", 5, "too late"),
            ("interrupted", 75, "stopped by SIGTERM; resume with --resume auto"),
        ):
            self.assertEqual(self.fail_with(code, "throw", kind), f"eflops-sample: {text}")
        for kind, text in (
            ("internal", "internal fault: "),
            ("exception", "internal fault: unexpected"),
            ("memory", "out of memory"),
            ("number", "internal fault: "),
        ):
            self.assertIn(f"eflops-sample: {text}", self.fail_with(70, "throw", kind))

    def test_a_reader_that_goes_away_ends_it_without_a_word(self):
        process = subprocess.Popen(
            [self.program, "throw", "flood"],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.assertEqual(process.stdout.readline(), b"line 0\n")
        process.stdout.close()
        stderr = process.stderr.read()
        self.assertEqual(process.wait(self.timeout_s), -signal.SIGPIPE)
        process.stderr.close()
        self.assertEqual(stderr, b"")

    def test_a_full_disk_behind_standard_output_is_a_data_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run(
                [self.program, "show", "-q"],
                env=self.environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=self.timeout_s,
                check=False,
            )
        self.assertEqual(run.returncode, 3)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn("No space left on device", run.stderr)


if __name__ == "__main__":
    CommandLine.program = sys.argv.pop()
    unittest.main()
