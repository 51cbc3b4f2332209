#!/usr/bin/env python3
"""The comparison's arithmetic and its refusals, with stand-in programs for both sides."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

import compare

HIGHER = {"case": "c", "key": "rate", "unit": "1/s", "better": "higher", "goal": 1.3}
LOWER = {**HIGHER, "key": "size", "better": "lower", "goal": 0.5}


def printing(result):
    """A side that prints one JSON line."""
    return {
        "command": [
            sys.executable,
            "-c",
            f"print('text'); print('{json.dumps(result)}')".replace("{", "{{").replace("}", "}}"),
        ]
    }


class Statistics(unittest.TestCase):
    def test_equal_samples_have_no_spread(self):
        self.assertEqual(compare.interval([3.0] * 5, [2.0] * 5, resamples=100), (1.5, 1.5, 1.5))

    def test_interval_spans_the_ratios_that_the_samples_allow(self):
        ratio, low, high = compare.interval([2.0, 2.0, 2.2, 2.4, 2.4], [1.0] * 5)
        self.assertEqual(ratio, 2.2)  # the medians are 2.2 and 1
        # A median of 5 draws is 2.0 where 3 draws are (probability 0.317), and 2.4 as often: both beyond 2.5 %.
        self.assertEqual((low, high), (2.0, 2.4))

    def test_verdict_needs_the_whole_interval_and_five_launches(self):
        for low, high, expected in ((1.3, 2.0, "met"), (1.0, 1.29, "missed"), (1.2, 1.4, "undecided")):
            self.assertEqual(compare.verdict(HIGHER, low, high, 5), expected)
        for low, high, expected in ((0.2, 0.5, "met"), (0.51, 0.6, "missed"), (0.4, 0.6, "undecided")):
            self.assertEqual(compare.verdict(LOWER, low, high, 5), expected)
        self.assertEqual(compare.verdict(HIGHER, 2.0, 2.0, 4), "undecided")


class Records(unittest.TestCase):
    def record(self, measure, equal=()):
        case = {
            "name": "c",
            "ours": printing({}),
            "peers": {"a": printing({}), "b": printing({})},
            "equal": list(equal),
        }
        results = {
            "ours": [{"rate": 3.0, "size": 4, "ids": "x"}] * 5,
            "a": [{"rate": 1.0, "size": 8, "ids": "x", "version": "a 1"}] * 5,
            "b": [{"rate": 2.0, "size": 16, "ids": "y", "version": "b 1"}] * 5,
        }
        with mock.patch.object(compare, "provenance", lambda values: {"git_commit": "c"}):
            return compare.record(case, measure, results, [0.1, 0.2], {"repo": "/r", "bin": "/r/b"})

    def test_the_better_variant_of_the_peer_counts(self):
        fast, small = self.record(HIGHER), self.record(LOWER)
        self.assertEqual((fast["peer_variant"], fast["ratio"], fast["verdict"]), ("b", 1.5, "met"))
        self.assertEqual((small["peer_variant"], small["ratio"], small["verdict"]), ("a", 0.5, "met"))
        self.assertEqual((fast["max_busy_cores"], fast["launches"], fast["peer_version"]), (0.2, 5, "b 1"))

    def test_a_variant_that_ran_once_may_lose_but_not_win(self):
        case = {"name": "c", "ours": printing({}), "peers": {"a": printing({}), "b": printing({})}}
        results = {"ours": [{"rate": 3.0, "size": 4}] * 5, "a": [{"rate": 2.0, "size": 9}] * 5}
        with mock.patch.object(compare, "provenance", lambda values: {}):
            results["b"] = [{"rate": 1.0, "size": 9}]
            found = compare.record(case, HIGHER, results, [0.1], {"repo": "/r", "bin": "/r/b"})
            self.assertEqual((found["peer_variant"], found["launches"]), ("a", 5))
            results["b"] = [{"rate": 2.5, "size": 9}]
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertIsNone(compare.record(case, HIGHER, results, [0.1], {"repo": "/r", "bin": "/r/b"}))

    def test_results_that_must_be_equal_and_are_not_count_for_nothing(self):
        self.assertEqual(self.record(HIGHER, equal=["ids"])["verdict"], "unverified")
        self.assertEqual(self.record(LOWER, equal=["ids"])["verdict"], "met")


class Launches(unittest.TestCase):
    def test_takes_the_last_json_line_and_measures_memory_itself(self):
        found = compare.launch(printing({"rate": 2.0}), {}, 20)
        self.assertEqual(found["rate"], 2.0)
        self.assertGreater(found["peak_rss_bytes"], 1 << 20)

    def test_reads_a_result_file_of_the_launch(self):
        code = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"
        side = {
            "command": [sys.executable, "-c", code, "{launch}/m.jsonl", '{{"rate": 1}}\n{{"rate": 7}}\n'],
            "result": "{launch}/m.jsonl",
        }
        self.assertEqual(compare.launch(side, {}, 20)["rate"], 7)

    def test_a_failed_or_endless_launch_ends_the_comparison(self):
        for code in ("import sys; sys.exit(3)", "import time; time.sleep(60)", "pass"):
            with self.assertRaises(SystemExit) as caught, contextlib.redirect_stderr(io.StringIO()):
                compare.launch({"command": [sys.executable, "-c", code]}, {}, 1.0)
            self.assertEqual(caught.exception.code, 1)

    def test_sides_take_turns(self):
        order = []
        case = {"name": "c", "ours": {"id": "ours"}, "peers": {"a": {"id": "a"}, "b": {"id": "b"}}}
        options = types.SimpleNamespace(trial=True, launches=3, wait_s=0, once=["b"])
        with mock.patch.object(compare, "launch", lambda side, values, limit: order.append(side["id"]) or {}):
            with contextlib.redirect_stdout(io.StringIO()):
                compare.measured(case, {}, options)
        self.assertEqual(order, ["ours", "a", "b", "a", "ours", "ours", "a"])  # b once; who begins changes

    def test_a_busy_machine_is_refused(self):
        with self.assertRaises(SystemExit) as caught, contextlib.redirect_stderr(io.StringIO()):
            compare.wait_until_quiet(lambda: 1.5, limit_s=0.0, pause_s=0.0)
        self.assertEqual(caught.exception.code, 5)
        loads = iter([0.9, 0.1])
        self.assertEqual(compare.wait_until_quiet(lambda: next(loads), limit_s=10.0, pause_s=0.0), 0.1)


class Tables(unittest.TestCase):
    def test_a_trial_of_a_whole_table_prints_a_record(self):
        case = {
            "name": "c",
            "ours": printing({"rate": 4.0}),
            "peers": {"a": printing({"rate": 2.0})},
            "measures": [HIGHER],
        }
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "t.json"
            table.write_text(json.dumps({"topic": "t", "cases": [case]}))
            out = io.StringIO()
            with mock.patch.object(sys, "argv", ["compare.py", str(table), "--trial"]), contextlib.redirect_stdout(out):
                with mock.patch.object(compare, "provenance", lambda values: {}):
                    compare.main()
        self.assertIn("c: 2.00 [2.00, 2.00], goal 1.3: undecided", out.getvalue())

    def test_prepares_a_file_and_stops_where_that_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            side = {"command": [sys.executable, "-c", "print(4)"], "stdout": "{work}/x"}
            compare.prepare(side, {"work": folder})
            self.assertEqual((pathlib.Path(folder) / "x").read_text(), "4\n")
            side["command"][-1] = "import sys; sys.exit(3)"
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                compare.prepare(side, {"work": folder})

    def test_every_table_here_fills_in(self):
        for path in pathlib.Path(compare.__file__).parent.glob("*.json"):
            table = json.loads(path.read_text())
            names = {key: "x" for key in ("repo", "bin", "python", "work", "launch", *table["settings"])}
            for case in table["cases"]:
                sides = [case["ours"], *case["peers"].values(), *case.get("prepare", [])]
                for side in sides:
                    for word in [*side["command"], side.get("result", ""), side.get("stdout", "")]:
                        word.format(**names)  # KeyError for an unknown name
                for measure in case["measures"]:
                    self.assertEqual(set(measure), {"case", "key", "unit", "better", "goal"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
