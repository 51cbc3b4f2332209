#!/usr/bin/env python3
"""eflops-bench as users run it, on ranks that it starts itself. usage: bench_process_test.py BIN"""

import csv
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from processes import ProcessTest

QUICK = ["-n", "3", "-w", "1", "--ranks", "2"]


def data_rows(text):
    """The words of every line that is not a comment."""
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


class Bench(ProcessTest):
    """Tables, records, errors, and ranks that die or stop."""

    def test_a_row_for_every_size_and_place_with_consistent_columns(self):
        text = self.succeed("allreduce", "-b", "8", "-e", "1M", "-f", "4", *QUICK)
        rows = data_rows(text)
        sizes = [8 * 4**i for i in range(9)]
        self.assertEqual([(int(row[0]), row[2]) for row in rows], [(s, p) for s in sizes for p in ("out", "in")])
        for row in rows:
            size, count, _, _, n, low, p50, _, high = row[:9]
            self.assertEqual(int(count), int(size) // 4)
            self.assertEqual(n, "3")
            self.assertLessEqual(float(low), float(p50))
            self.assertLessEqual(float(p50), float(high))
            algbw, busbw, _, _, wrong = row[10:15]
            # 2 ranks: the factor 2(p-1)/p is 1.
            self.assertEqual(algbw, busbw)
            self.assertEqual(wrong, "0")
            self.assertAlmostEqual(float(algbw), int(size) / float(p50) * 1e-3, delta=0.002 + 0.01 * float(algbw))
        self.assertIn("# wrong elements: 0\n", text)
        self.assertIn("# rows: 18 ran, 0 did not\n", text)
        self.assertRegex(text, r"# allreduce  ranks 2 on \S+  transport shm ")

    def test_every_collective_transport_type_and_reduction(self):
        for verb in ("allreduce", "reduce-scatter", "all-gather", "broadcast", "alltoall"):
            for transport in ("shm", "tcp", "mpi"):
                rows = data_rows(
                    self.succeed(verb, "-b", "0", "-e", "64K", "-f", "64", "--transport", transport, *QUICK)
                )
                self.assertGreater(len(rows), 3, (verb, transport))
                self.assertEqual({row[14] for row in rows}, {"0"}, (verb, transport))
        for element in ("f32", "double", "bfloat16", "half", "int8", "u8", "int", "u32", "i64", "u64"):
            for reduction in ("sum", "prod", "min", "max", "avg"):
                text = self.succeed("-b", "1000", "-e", "1000", "-d", element, "-o", reduction, *QUICK)
                self.assertEqual([row[14] for row in data_rows(text)], ["0", "0"], (element, reduction))

    def test_mpi_allreduce_stands_beside_ours_in_every_type(self):
        for element in ("f32", "f64", "bf16", "f16", "i8", "u8", "i32", "u32", "i64", "u64"):
            for reduction in ("sum", "avg", "max"):
                text = self.succeed("-b", "4K", "-e", "4K", "-d", element, "-o", reduction,
                                    "--algorithm", "ring,mpi", *QUICK)  # fmt: skip
                rows = [(row[3], row[14]) for row in data_rows(text)]
                self.assertEqual(rows, [(name, "0") for name in ("ring", "ring", "mpi", "mpi")], (element, reduction))
        self.assertIn("has no algorithm 'mpi'", self.fail_with(2, "all-gather", "--algorithm", "mpi", "--ranks", "2"))

    def test_all_algorithms_on_three_ranks_and_a_row_that_cannot_run_says_why(self):
        text = self.succeed("reduce-scatter", "-b", "999", "-e", "999", "--algorithm", "all", "--place", "out",
                            "-n", "2", "--ranks", "3")  # fmt: skip
        rows = {row[3]: row for row in data_rows(text)}
        self.assertEqual(set(rows), {"ring", "halving", "direct"})
        self.assertIn("skipped: needs a power of two of ranks, not 3", " ".join(rows["halving"]))
        self.assertEqual(rows["halving"][14], "n/a")
        self.assertEqual(rows["ring"][14], "0")
        self.assertIn("# rows: 2 ran, 1 did not\n", text)

    # known_faults C34: a container's /dev/shm often has 64 MB.
    def test_sizes_beyond_a_small_dev_shm_are_skipped_and_the_sweep_goes_on(self):
        mount = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$0" "$@"']
        if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this machine forbids mounts in a user namespace")
        run = subprocess.run(
            [*mount, self.program, "-b", "64K", "-e", "1M", "-f", "4", "--place", "out", *QUICK],
            cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = {int(row[0]): row for row in data_rows(run.stdout)}
        self.assertEqual(rows[65536][14], "0")
        self.assertRegex(" ".join(rows[1048576][15:]), r"^skipped: needs 4.00? MiB of /dev/shm, .* are free")

    def test_nccl_format_has_its_columns_and_literal_footers(self):
        text = self.succeed("-b", "1K", "-e", "4K", "--format", "nccl", *QUICK)
        rows = data_rows(text)
        self.assertEqual([row[:5] for row in rows], [[str(s), str(s // 4), "float", "sum", "-1"] for s in (1024, 2048, 4096)])
        for row in rows:
            self.assertEqual(len(row), 13)
            self.assertEqual((row[8], row[12]), ("0", "0"))
        self.assertRegex(text, r"\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : [0-9.e-]+\n#\n$")

    def test_records_hold_every_sample_and_what_ran(self):
        self.succeed("-b", "1K", "-e", "2K", "--place", "out", "--record", "rows.jsonl", *QUICK)
        records = [json.loads(line) for line in self.read("rows.jsonl").splitlines()]
        self.assertEqual([record["facts"]["size_bytes"] for record in records], [1024, 2048])
        for record in records:
            self.assertEqual(record["status"], "complete")
            self.assertEqual(record["verification"]["outcome"], "passed")
            self.assertEqual(len(record["measurements"][0]["samples"]), 3)
            self.assertEqual(record["facts"]["transport"], "shm")
            self.assertEqual(record["facts"]["algorithm"], "one-pass")
            self.assertEqual(record["provenance"]["ranks"], 2)

    def test_rows_are_comma_separated_for_tables(self):
        lines = self.succeed("-b", "1K", "-e", "2K", "--format", "csv", "--order", "random", *QUICK).splitlines()
        lines = [line for line in lines if not line.startswith("#")]
        rows = list(csv.DictReader(lines))
        self.assertEqual(sorted((int(row["size_bytes"]), row["place"]) for row in rows),
                         [(1024, "in"), (1024, "out"), (2048, "in"), (2048, "out")])  # fmt: skip
        for row in rows:
            self.assertEqual((row["n"], row["wrong"], row["algorithm"]), ("3", "0", "one-pass"))
            self.assertGreater(float(row["busbw_GBps"]), 0)

    def test_a_missed_bandwidth_fails_after_the_table(self):
        self.succeed("-b", "1K", "-e", "1K", "--min-busbw", "1e-6", *QUICK)
        run = self.run_program("-b", "1K", "-e", "1K", "--min-busbw", "1e6", *QUICK)
        self.assertEqual(run.returncode, 1)
        self.assertIn("# rows: 2 ran", run.stdout)
        self.assertRegex(run.stderr, r"min_busbw: the mean bus bandwidth is [0-9.]+ GB/s, below 1e\+06")

    def test_launches_are_compared_and_a_slower_one_fails_the_gate(self):
        for name, more in (("small", []), ("again", []), ("large", ["--segment", "0"])):
            self.succeed("-b", "4K", "-e", "4K", "--place", "out", "--launches", "5", "--record", name, *more, *QUICK)
        launches = [json.loads(line)["facts"]["launch"] for line in self.read("small").splitlines()]
        self.assertEqual(len(set(launches)), 5)
        # Times of a busy machine prove nothing, so the verdicts come from times that are written here.
        for name, factor in (("small", 1), ("again", 1), ("large", 3)):
            records = [json.loads(line) for line in self.read(name).splitlines()]
            for i, record in enumerate(records):
                record["measurements"][0]["samples"] = [factor * (1e-5 + 1e-9 * i)]
            self.write(name, "".join(json.dumps(record) + "\n" for record in records))
        text = self.succeed("compare", "small", "again", "--gate")
        self.assertRegex(text, r"(?m)^same +1\.000 .* 5/5  .*size_bytes=4096")
        self.assertIn("no case is on both sides", self.fail_with(3, "compare", "small", "large"))
        run = self.run_program("compare", "small", "large", "--ignore", "segment_bytes", "--gate")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout, r"(?m)^slower +3\.000 .* 10 us +30.01 us +5/5  ")
        self.assertIn("gate: 1 of 1 cases are slower", run.stderr)
        self.assertIn("takes two files", self.fail_with(2, "compare", "small"))

    def test_auto_follows_the_table_that_tune_writes(self):
        sweep = ["--transport", "tcp", "-b", "1K", "-e", "4K", "-f", "4", *QUICK]
        text = self.succeed("tune", *sweep, "--table", "t.yaml", "--collectives", "allreduce,all-gather")
        self.assertIn("# written to t.yaml\n", text)
        table = self.read("t.yaml")
        self.assertRegex(table, r"allreduce\.tcp\.ranks_2\.servers_1:\n(  - \d+ [a-z-]+\n){1,2}")
        self.assertRegex(table, r"all_gather\.tcp\.ranks_2\.servers_1:\n(  - \d+ [a-z-]+\n){1,2}")
        # What auto takes is told by the table alone.
        self.write("t.yaml", "allreduce.tcp.ranks_2.servers_1: [1K ring, 4K direct]\n")
        text = self.succeed("allreduce", *sweep, "-e", "16K", "--place", "out", "--table", "t.yaml")
        self.assertEqual([row[3] for row in data_rows(text)], ["ring", "direct", "direct"])
        self.assertRegex(text, r"# auto: t\.yaml allreduce\.tcp\.ranks_2\.servers_1 \(hash [0-9a-f]{16}\)")
        self.assertEqual(" ".join(data_rows(text)[2][15:]), "beyond the table: entry up to 4.0 KiB")
        text = self.succeed("all-gather", *sweep, "--place", "out", "--table", "t.yaml")
        self.assertIn("# auto: t.yaml has no all_gather.tcp.ranks_2.servers_1: built-in rule\n", text)
        # A tolerance of 1000 % is met by any choice; verifying leaves the file as it is.
        self.succeed("tune", *sweep, "--table", "t.yaml", "--verify", "--tolerance", "10")
        self.assertEqual(self.read("t.yaml"), "allreduce.tcp.ranks_2.servers_1: [1K ring, 4K direct]\n")
        self.write("t.yaml", "allreduce.tcp.ranks_2.servers_1: [1K rang]\n")
        self.assertIn("t.yaml:1: allreduce.tcp.ranks_2.servers_1: allreduce has no algorithm 'rang'",
                      self.fail_with(2, "allreduce", *sweep, "--table", "t.yaml"))  # fmt: skip
        self.assertIn("a file to write is expected", self.fail_with(2, "tune", *sweep))

    def test_logs_of_other_tools_become_records(self):
        self.write("osu.log", "# OSU MPI Allreduce Latency Test v7.4\n# Size   Avg Latency(us)\n8   2.00\n16   2.50\n16\n")
        run = self.run_program("import", "osu.log", "--ranks", "4", "--record", "osu.jsonl")
        self.assertEqual((run.returncode, run.stdout), (0, "# 2 rows of 1 logs in osu.jsonl\n"))
        self.assertIn("osu.log:5: begins with a size but has other columns than its table", run.stderr)
        record = json.loads(self.read("osu.jsonl").splitlines()[0])
        self.assertEqual(record["status"], "unverified")
        self.assertEqual(record["measurements"][0]["name"], "iteration_time")
        self.assertAlmostEqual(record["measurements"][0]["samples"][0], 2e-6)
        self.assertEqual((record["facts"]["collective"], record["provenance"]["ranks"]), ("allreduce", 4))
        self.assertIn("undecided", self.succeed("compare", "osu.jsonl", "osu.jsonl", "--unchecked"))
        # Without --ranks they are not known, and the record can be read all the same.
        self.succeed("import", "osu.log", "--record", "unknown.jsonl")
        self.assertIn("ranks=0", self.succeed("compare", "unknown.jsonl", "unknown.jsonl", "--unchecked"))
        self.write("empty.log", "nothing\n")
        self.assertIn("empty.log: no row of a table", self.fail_with(3, "import", "empty.log"))

    def test_one_pass_says_what_it_needs(self):
        text = self.succeed("-b", "1K", "-e", "1K", "--algorithm", "one-pass,ring", "--transport", "tcp", *QUICK)
        self.assertIn("skipped: needs ranks that see each other's memory: transport shm, not tcp", text)
        self.assertIn("# rows: 2 ran, 2 did not\n", text)

    def test_one_rank_has_no_bus_bandwidth(self):
        text = self.succeed("-b", "1K", "-e", "1K", "--ranks", "1", "-n", "2")
        self.assertEqual({row[11] for row in data_rows(text)}, {"n/a"})

    def test_bad_options_are_one_line_before_any_rank_starts(self):
        for words, message in (
            (["-b", "8Q"], "begin: '8Q' is no size"),
            (["-b", "16", "-e", "8"], "from 16 to 8 bytes is no sweep"),
            (["-d", "f31"], "'f31' is no element type; there are f32"),
            (["-o", "mean"], "'mean' is no reduction; there are sum prod"),
            (["--algorithm", "rng"], "allreduce has no algorithm 'rng'; there are ring"),
            (["--cadence", "streaming", "--place", "in"], "cadence streaming needs place out"),
        ):
            self.assertIn(message, self.fail_with(2, *words, "--ranks", "2"))

    def test_dry_run_starts_nothing(self):
        self.assertIn("rows; largest buffers", self.succeed("allreduce", "-e", "1M", "--dry-run"))

    def start(self, *words):
        """A long run in the background, once its first row is out."""
        run = subprocess.Popen(
            [self.program, "-b", "1M", "-e", "1M", "-n", "1000000", "--ranks", "3", *words],
            cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(run.kill)
        for line in run.stdout:
            if line.startswith("#") and "(us)" in line:
                return run
        self.fail(run.stderr.read())
        return None

    @staticmethod
    def ranks_of(run):
        """Rank -> process, of the ranks that a launcher has started."""
        found = {}
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(path, "rb") as source:
                    variables = dict(v.split(b"=", 1) for v in source.read().split(b"\0") if b"=" in v)
                with open(path.replace("environ", "stat"), encoding="ascii") as source:
                    parent = int(re.sub(r".*\)", "", source.read()).split()[1])
            except OSError:
                continue
            if parent == run.pid and b"OMPI_COMM_WORLD_RANK" in variables:
                found[int(variables[b"OMPI_COMM_WORLD_RANK"])] = int(path.split("/")[2])
        return found

    # known_faults C37: SIGKILL ends the job; a stopped rank hung it for ever.
    def test_each_killed_rank_ends_the_job_within_five_seconds(self):
        for transport in ("shm", "tcp", "mpi"):
            for rank in range(3):
                run = self.start("--transport", transport)
                os.kill(self.ranks_of(run)[rank], signal.SIGKILL)
                begin = time.monotonic()
                _, stderr = run.communicate(timeout=60)
                self.assertNotEqual(run.returncode, 0, transport)
                self.assertLess(time.monotonic() - begin, 5, transport)
                self.assertRegex(stderr, rf"rank {rank}\b", transport)
        self.assertEqual(glob.glob(f"/dev/shm/eflops-*-{run.pid}-*"), [])

    def test_each_stopped_rank_ends_the_job_at_the_deadline_with_who_waits_for_whom(self):
        for transport in ("shm", "tcp", "mpi"):
            for rank in range(3):
                run = self.start("--transport", transport, "--timeout", "1")
                stopped = self.ranks_of(run)[rank]
                os.kill(stopped, signal.SIGSTOP)
                try:
                    _, stderr = run.communicate(timeout=60)
                finally:
                    try:
                        os.kill(stopped, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                self.assertNotEqual(run.returncode, 0, transport)
                self.assertRegex(stderr, rf"rank \d has waited .* rank {rank}\b", transport)

    def test_ranks_that_were_not_started_are_an_error(self):
        line = self.fail_with(4, "-e", "8", "--ranks", "4", env={"OMPI_COMM_WORLD_SIZE": "4"})
        self.assertIn("runs alone although OMPI_COMM_WORLD_SIZE=4", line)


if __name__ == "__main__":
    Bench.program = os.path.join(sys.argv.pop(1), "eflops-bench")
    unittest.main()
