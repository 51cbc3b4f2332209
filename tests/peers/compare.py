#!/usr/bin/env python3
"""Runs our program and its peer in turn and appends one record per measure to results/peers/TOPIC.jsonl (DESIGN 5).

usage: compare.py TABLE.json [--case NAME]... [--set KEY=VALUE]... [--once VARIANT]... [--launches N] [--trial]

The table holds command templates; {python}, {bin}, {repo}, {work} (a folder of the comparison), {launch} (a folder of
the launch) and its `settings` are filled in. Each launch prints one JSON line last on stdout, or leaves it last in
the file that `result` names. All variants of the peer run; the better one counts. --once runs a variant in the
first turn alone; a measure of which that one launch was the peer's best is not kept. The unit is the launch: the ratio
is that of the medians over launches, its interval a bootstrap over launches. Nothing is measured while the machine is
busy. --trial runs one launch of each, whatever the load, and only prints the records.
exit codes: 0 measured (goals met or not), 1 a launch failed or a measure was not kept, 2 wrong usage or table, 5 the machine stays busy
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MAX_LOAD = 0.3
MIN_LAUNCHES = 5
RESAMPLES = 10000


def fail(code, message):
    print(f"compare: {message}", file=sys.stderr)
    sys.exit(code)


def interval(ours, peer, resamples=RESAMPLES):
    """(ratio of medians, low, high): ours to peer, with the bootstrap's 95 % interval over launches."""
    draw = random.Random(1)
    ratios = sorted(
        statistics.median(draw.choices(ours, k=len(ours))) / statistics.median(draw.choices(peer, k=len(peer)))
        for _ in range(resamples)
    )
    at = lambda share: ratios[min(resamples - 1, int(share * resamples))]
    return statistics.median(ours) / statistics.median(peer), at(0.025), at(0.975)


def verdict(measure, low, high, launches):
    """`met` or `missed` where the whole interval lies on one side of the goal, else `undecided`."""
    if launches < MIN_LAUNCHES:
        return "undecided"
    goal = measure["goal"]
    if measure["better"] == "higher":
        return "met" if low >= goal else "missed" if high < goal else "undecided"
    return "met" if high <= goal else "missed" if low > goal else "undecided"


def busy_cores(seconds=1.0):
    """How many cores were busy over the last moment, by all processes of the machine."""

    def ticks():
        fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    all_before, idle_before = ticks()
    time.sleep(seconds)
    all_after, idle_after = ticks()
    return os.cpu_count() * (1 - (idle_after - idle_before) / max(1, all_after - all_before))


def wait_until_quiet(probe, limit_s, pause_s=5.0):
    """Polls `probe` until it is below MAX_LOAD and returns it; exits with 5 where it never is."""
    deadline = time.monotonic() + limit_s
    while (load := probe()) >= MAX_LOAD:
        if time.monotonic() > deadline:
            fail(5, f"the machine stays busy: load {load:.2f}, and comparisons need less than {MAX_LOAD}")
        time.sleep(pause_s)
    return load


def launch(side, values, timeout_s):
    """Runs one side once: its JSON result, with peak_rss_bytes as the kernel counted it."""
    with tempfile.TemporaryDirectory() as folder:
        values = {**values, "launch": folder}
        command = [word.format(**values) for word in side["command"]]
        with open(f"{folder}/stdout", "w+", encoding="utf-8") as out, open(
            f"{folder}/stderr", "w+", encoding="utf-8"
        ) as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=folder)
            timer = threading.Timer(timeout_s, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                err.seek(0)
                fail(1, f"exit {process.returncode} of: {' '.join(command)}\n{err.read()[-2000:]}")
        source = side.get("result", "{launch}/stdout").format(**values)
        lines = [line for line in pathlib.Path(source).read_text(encoding="utf-8").split("\n") if line.startswith("{")]
    if not lines:
        fail(1, f"no JSON line in {side.get('result', 'the output')} of: {' '.join(command)}")
    line = json.loads(lines[-1])
    return {**line, **line.get("facts", {}), "peak_rss_bytes": usage.ru_maxrss * 1024}


def prepare(side, values):
    """Runs a command once before the launches of a case, its output into the file that `stdout` names."""
    command = [word.format(**values) for word in side["command"]]
    with open(side["stdout"].format(**values), "w", encoding="utf-8") as out:
        status = subprocess.run(command, stdout=out, stdin=subprocess.DEVNULL, check=False).returncode
    if status != 0:
        fail(1, f"exit {status} of: {' '.join(command)}")


def measured(case, values, options):
    """Interleaved launches of ours and every variant of the peer: name -> results, and the loads seen."""
    sides = {"ours": case["ours"], **case["peers"]}
    results = {name: [] for name in sides}
    loads = []
    for side in case.get("prepare", []):
        prepare(side, values)
    if not options.trial:
        loads.append(wait_until_quiet(lambda: os.getloadavg()[0], options.wait_s))
    names = list(sides)
    for turn in range(options.launches):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if turn > 0 and name in options.once:
                continue
            if not options.trial:
                loads.append(wait_until_quiet(busy_cores, 120.0, 1.0))
            results[name].append(launch(sides[name], values, case.get("timeout_s", 1800)))
            print(f"{case['name']} {turn + 1}/{options.launches} {name}: {json.dumps(results[name][-1])}", flush=True)
    return results, loads


def record(case, measure, results, loads, values):
    """The record of one measure (DESIGN 5): the better variant of the peer counts; None where that one ran once only."""
    key, higher = measure["key"], measure["better"] == "higher"
    samples = {name: [float(result[key]) for result in runs] for name, runs in results.items()}
    best = (max if higher else min)(case["peers"], key=lambda name: statistics.median(samples[name]))
    if len(samples[best]) < len(samples["ours"]):
        print(f"compare: {measure['case']}: not kept: '{best}' is the peer's best and ran once only", file=sys.stderr)
        return None
    ratio, low, high = interval(samples["ours"], samples[best])
    same = case.get("equal", [])
    unequal = [
        k for k in same if len({json.dumps(run[k]) for runs in (results["ours"], results[best]) for run in runs}) > 1
    ]
    launches = len(samples["ours"])
    return {
        "case": measure["case"],
        "ratio": ratio,
        "ci_low": low,
        "ci_high": high,
        "goal": measure["goal"],
        "better": measure["better"],
        "verdict": "unverified" if unequal else verdict(measure, low, high, launches),
        "ours": statistics.median(samples["ours"]),
        "peer": statistics.median(samples[best]),
        "unit": measure["unit"],
        "peer_variant": best,
        "peer_version": results[best][-1].get("version", "unknown"),
        "command": shlex.join(shown(word) for word in sys.argv),
        "ours_command": shlex.join(filled(case["ours"]["command"], values)),
        "peer_command": shlex.join(filled(case["peers"][best]["command"], values)),
        "launches": launches,
        "samples": samples,
        "verification": {
            "method": f"equal {', '.join(same)}" if same else "each launch ended by itself with code 0",
            "outcome": "failed" if unequal else "passed",
        },
        "max_busy_cores": max(loads, default=None),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "provenance": {
            **provenance(values),
            "threads": case.get("threads", int(values.get("threads", 1))),
            "load": loads[0] if loads else os.getloadavg()[0],
        },
    }


def shown(word):
    """A path of this machine as seen from the repository."""
    return word.replace(f"{REPOSITORY}/", "")


def filled(command, values):
    """A command template as it was run; paths as seen from the repository, folders of the launch by their names."""
    names = {"repo": ".", "bin": "build/release/bin", "work": "WORK", "launch": "LAUNCH", "python": "python3"}
    inside = {key: shown(value).replace(f"{REPOSITORY}", ".") for key, value in values.items()}
    return [word.format(**{**inside, **names}) for word in command]


def provenance(values):
    """What a record of ours says of build and machine (results/README.md), from the programs that were measured."""
    command = [f"{values['bin']}/eflops-info", "provenance"]
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
        found = json.loads(text)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        fail(2, f"{' '.join(command)}: {error}")
    head = subprocess.run(
        ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if head and found["git_commit"] not in (head, "unknown"):
        print(f"compare: warning: the programs were built from {found['git_commit']}, not {head}", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--case", action="append", help="run only this case (repeatable)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="overrides a setting of the table"
    )
    parser.add_argument("--once", action="append", default=[], metavar="VARIANT", help="of the peer (repeatable)")
    parser.add_argument("--launches", type=int, default=MIN_LAUNCHES, help="of each side")
    parser.add_argument("--wait-s", type=float, default=600.0, help="how long to wait for a quiet machine")
    parser.add_argument("--trial", action="store_true")
    options = parser.parse_args()
    if options.trial:
        options.launches = 1
    table = json.loads(options.table.read_text(encoding="utf-8"))
    known = [case["name"] for case in table["cases"]]
    for name in options.case or []:
        if name not in known:
            fail(2, f"{options.table} has no case '{name}'; it has {', '.join(known)}")
    values = {
        "repo": str(REPOSITORY),
        "bin": f"{REPOSITORY}/build/release/bin",
        "python": f"{REPOSITORY}/build/peers/bin/python",
    }
    variants = {name for case in table["cases"] for name in case["peers"]}
    if unknown := set(options.once) - variants:
        fail(2, f"{options.table} has no variant {sorted(unknown)}; it has {', '.join(sorted(variants))}")
    for key, value in (table.get("settings", {}) | dict(setting.split("=", 1) for setting in options.set)).items():
        values[key] = value.format(**values)
    kept = REPOSITORY / "results" / "peers" / f"{table['topic']}.jsonl"
    refused = False
    with tempfile.TemporaryDirectory() as work:
        values["work"] = work
        for case in table["cases"]:
            if options.case and case["name"] not in options.case:
                continue
            results, loads = measured(case, values, options)
            for measure in case["measures"]:
                line = record(case, measure, results, loads, values)
                if line is None:
                    refused = True
                    continue
                print("{case}: {ratio:.2f} [{ci_low:.2f}, {ci_high:.2f}], goal {goal}: {verdict}".format(**line))
                if options.trial:
                    print(json.dumps(line))
                else:
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    with kept.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(line) + "\n")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
