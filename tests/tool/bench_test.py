"""`cohort bench comm`: the fields of its output, its errors, and participants that die or freeze."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
QUICK = ("--rounds", "2", "--time", "3ms")
DEADLINE_SECONDS = 300  # on a machine whose cores are busy with something else
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "reduce", "gather", "scatter",
               "barrier")


def bench(*arguments, **more):
    return subprocess.run([TOOL, "bench", "comm", *arguments], capture_output=True, text=True, timeout=DEADLINE_SECONDS, **more)


def ranks_of(process):
    """The rank processes that a running tool has started."""
    found = []
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            if b"bench-rank" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return sorted(found)


def is_busy(process):
    """Whether the process is being measured: it has used 0.2 s of CPU time, and waiting ranks sleep."""
    words = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK") > 0.2


class Report(unittest.TestCase):
    def rows(self, *arguments):
        result = bench("--json", *QUICK, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["unsupported"], [])
        return report["rows"]

    def test_json_has_a_row_per_cell_and_kind_with_the_peers_beside_it(self):
        rows = self.rows("--sizes", "4,1000", "--kinds", "arena,ordinary", "--against", "memcpy")
        self.assertEqual([(row["bytes"], row["kind"]) for row in rows],
                         [(4, "arena"), (4, "ordinary"), (1000, "arena"), (1000, "ordinary")])
        for row in rows:
            self.assertEqual((row["operation"], row["ranks"]), ("all_reduce", 2))
            self.assertGreaterEqual(row["samples"], 6)
            times = [row[key] for key in ("best_us", "p10_us", "p50_us", "p95_us", "p99_us")]
            self.assertEqual(times, sorted(times))
            self.assertGreater(times[0], 0)
            self.assertGreater(row["bus_gbps"], 0)
            peer = row["against"]["memcpy"]
            self.assertAlmostEqual(peer["ratio"], peer["p10_us"] / row["p10_us"], delta=0.01 * peer["ratio"])
            self.assertEqual("predicted_us" in row, row["bytes"] == 1000)

    def test_every_operation_gives_right_results_in_awkward_sizes(self):
        for ranks in ("1", "2", "3"):
            rows = self.rows("-n", ranks, "--operations", ",".join(COLLECTIVES), "--sizes", "4,5001,70003", "--kinds",
                             "arena,ordinary,memcpy", "--pin")
            self.assertEqual(len(rows), (8 * 3 + 1) * 3)

    def test_what_a_contender_cannot_do_is_told_and_is_no_row(self):
        report = json.loads(bench("--json", "-n", "1", "--operations", "send_receive", "--sizes", "4", "--kinds", "memcpy").stdout)
        self.assertEqual(report["rows"], [])
        self.assertEqual(report["unsupported"][0]["contender"], "memcpy")
        self.assertEqual(report["unsupported"][0]["reason"], "the operation needs two ranks")

    def test_a_bare_connection_is_for_two_ranks_that_do_the_same(self):
        rows = self.rows("--operations", "all_reduce,reduce_scatter,all_gather,all_to_all", "--sizes", "5001,700003", "--kinds", "bare_tcp")
        self.assertEqual(len(rows), 8)
        for ranks, operation in (("3", "all_reduce"), ("2", "broadcast")):
            report = json.loads(bench("--json", "-n", ranks, "--operations", operation, "--sizes", "4", "--kinds", "bare_tcp", *QUICK).stdout)
            self.assertEqual(report["rows"], [])
            self.assertEqual(report["unsupported"][0]["reason"], "bare_tcp needs two ranks that do the same")

    def test_several_numbers_of_ranks_and_ranges_of_sizes(self):
        rows = self.rows("-n", "1,2", "--sizes", "4..16", "--kinds", "memcpy")
        self.assertEqual([(row["ranks"], row["bytes"]) for row in rows], [(1, 4), (1, 8), (1, 16), (2, 4), (2, 8), (2, 16)])

    def test_calls_can_be_timed_one_by_one(self):
        self.assertEqual(self.rows("--sizes", "4", "--kinds", "memcpy", "--batch", "1")[0]["calls_per_sample"], 1)
        self.assertEqual(self.rows("--sizes", "4", "--kinds", "memcpy", "--pin")[0]["calls_per_sample"], 64)

    def test_the_table_is_for_people(self):
        text = bench("--sizes", "4KiB", "--kinds", "memcpy", *QUICK).stdout.splitlines()
        self.assertEqual(text[0].split()[:4], ["operation", "size", "kind", "ranks"])
        self.assertEqual(text[1].split()[:5], ["all_reduce", "4", "KiB", "memcpy", "2"])

    def test_the_plot_is_well_formed_and_nothing_else_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "times.svg"
            result = bench("--sizes", "4,64KiB", "--kinds", "memcpy", "--plot", file, *QUICK, env={**os.environ, "TMPDIR": folder})
            self.assertEqual(result.returncode, 0, result.stderr)
            root = xml.etree.ElementTree.parse(file).getroot()
            self.assertEqual(len(root.findall(".//{*}polyline")), 1)
            self.assertEqual(len(root.findall(".//{*}circle")), 2)
            self.assertEqual(os.listdir(folder), ["times.svg"])


class Mistakes(unittest.TestCase):
    def test_are_named_with_what_there_is(self):
        for arguments, words in ((("--operations", "all_reduces"), "Did you mean all_reduce?"),
                                 (("--kinds", "arenas"), "arena, ordinary, tcp, tls, memcpy, bare_tcp, openmpi, gloo, gloo_pinned"),
                                 (("--sizes", "64KB..4"), "Write the smaller size first."),
                                 (("--rounds", "0"), "at least one round"),
                                 (("--batch", "0"), "between 1 and"),
                                 (("-n", "0"), "between 1 and"),
                                 (("--time", "fast"), "--time")):
            result = bench(*arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertIn(words, result.stderr)

    def test_a_missing_peer_says_what_to_install(self):
        result = bench("--kinds", "gloo", "--python", "/nonexistent/python3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("dev/setup bench", result.stderr)
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(TOOL, folder)
            result = subprocess.run([alone, "bench", "comm", "--kinds", "openmpi"], capture_output=True, text=True,
                                    timeout=DEADLINE_SECONDS)
            self.assertEqual(result.returncode, 1)
            self.assertIn("dev/setup bench", result.stderr)

    def test_a_python_without_torch_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python"
            python.write_text("#!/bin/sh\necho 'the Python torch cannot be loaded: no module' >&2\nexit 1\n")
            python.chmod(0o755)
            result = bench("--kinds", "gloo", "--python", python)
            self.assertEqual(result.returncode, 1)
            self.assertIn("the Python torch cannot be loaded", result.stderr)
            self.assertIn("dev/setup bench", result.stderr)


class Trouble(unittest.TestCase):
    def disturbed(self, number, *arguments):
        """The output of the tool when one of its ranks gets a signal during the measurement."""
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([TOOL, "bench", "comm", "--kinds", "memcpy", "--sizes", "64KiB", "--time", "1h", "--rounds",
                                        "1000000", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, "TMPDIR": folder})
            deadline = time.monotonic() + DEADLINE_SECONDS
            while len(ranks_of(process)) < 2 or not all(is_busy(rank) for rank in ranks_of(process)):
                self.assertLess(time.monotonic(), deadline, "the ranks are not measured")
                time.sleep(0.01)
            ranks = ranks_of(process)
            os.kill(ranks[1], number)
            _, text = process.communicate(timeout=DEADLINE_SECONDS)
            self.assertEqual(process.returncode, 1)
            self.assertEqual(os.listdir(folder), [])
            for rank in ranks:
                self.assertFalse(pathlib.Path(f"/proc/{rank}").exists(), "a rank outlived the tool")
            return text

    def test_a_rank_that_is_killed_is_named(self):
        text = self.disturbed(signal.SIGKILL)
        self.assertRegex(text, "rank [01] of 'memcpy' is gone")
        self.assertIn("SIGKILL", text)

    def test_a_rank_that_is_frozen_meets_the_limit(self):
        self.assertRegex(self.disturbed(signal.SIGSTOP, "--limit", "2s"), "rank [01] of 'memcpy' has not answered")


class Peers(unittest.TestCase):
    def check(self, peer):
        result = bench("--json", "--kinds", "memcpy", "--against", peer, "--operations", "all_reduce,all_to_all,broadcast",
                       "--sizes", "4,4021", *QUICK)
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in json.loads(result.stdout)["rows"]:
            self.assertGreater(row["against"][peer]["ratio"], 0)

    def test_openmpi(self):
        if not (TOOL.parent / "cohort-bench-openmpi").exists() or shutil.which("mpirun") is None:
            self.skipTest("Open MPI is not installed (dev/setup bench)")
        self.check("openmpi")

    def test_gloo(self):
        python = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python3"
        if not python.exists() or subprocess.run([python, "-c", "import torch.distributed"], capture_output=True).returncode != 0:
            self.skipTest("Python cannot import torch (dev/setup bench)")
        self.check("gloo")
        self.check("gloo_pinned")


if __name__ == "__main__":
    unittest.main(verbosity=2)
