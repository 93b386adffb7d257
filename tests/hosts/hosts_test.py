"""Jobs on several hosts: rendezvous, settings, bytes on the wire, and cut cables."""

import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from cluster import SKIPPED, Cluster, is_alive, missing

if missing():
    print(f"skipped: {missing()}")
    sys.exit(SKIPPED)

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
RANK = pathlib.Path(sys.argv.pop(1)).resolve()
LIMIT = 60  # seconds; only a broken program takes this long


class OnHosts(unittest.TestCase):
    """Two hosts, and methods to run host_rank on them."""

    def setUp(self):
        self.hosts = Cluster("a", "b")
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)

    def words(self, shares, *words, options=()):
        return self.hosts.inside("a", TOOL, "run", "--hosts", shares, "--start", self.hosts.start_way(), *options, RANK, *words)

    def run_job(self, shares, *words, options=()):
        return subprocess.run(self.words(shares, *words, options=options), capture_output=True, text=True, timeout=LIMIT)

    def start_job(self, shares, *words, options=()):
        job = subprocess.Popen(self.words(shares, *words, options=options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def clean_up():
            job.kill()
            job.wait(timeout=LIMIT)
            job.stdout.close()
            job.stderr.close()

        self.addCleanup(clean_up)
        self.said = ""
        return job

    def wait_until(self, job, text, times):
        """Waits until the job has written `text` this many times."""
        while self.said.count(text) < times:
            line = job.stdout.readline()
            self.assertTrue(line, f"it ended after:\n{self.said}\n{job.stderr.read() if job.poll() is not None else ''}")
            self.said += line

    def finish(self, job):
        out, err = job.communicate(timeout=LIMIT)
        return self.said + out, err

    def start_by_hand(self, rendezvous, *words, keys=("key", "key")):
        """Starts one rank on each host, without a launcher."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for key in set(keys):
            subprocess.run([TOOL, "key", folder / key], check=True, capture_output=True)
        ranks = []
        for rank, host in enumerate("ab"):
            environment = {**os.environ, "COHORT_RANK": str(rank), "COHORT_WORLD": "2", "COHORT_LOCAL_RANK": "0",
                           "COHORT_LOCAL_WORLD": "1", "COHORT_RENDEZVOUS": rendezvous.format(folder=folder),
                           "COHORT_KEY_FILE": str(folder / keys[rank])}
            ranks.append(subprocess.Popen(self.hosts.inside(host, RANK, *words), stdout=subprocess.PIPE, text=True,
                                          env=environment))
        return ranks

    def remembering(self):
        """Options of a job with a filled link cache, so that nothing is measured."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        options = ["--env", f"COHORT_LINK_CACHE={folder}"]
        result = self.run_job("a:1,b:1", "sum", 1, 1, options=options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return options

    def by_hand(self, rendezvous, *words, **more):
        return [rank.communicate(timeout=LIMIT)[0] for rank in self.start_by_hand(rendezvous, *words, **more)]

    def pids(self):
        return {int(rank): int(pid) for rank, pid in re.findall(r"\[(\d+)\] pid (\d+)", self.said)}


class Together(OnHosts):
    def test_ranks_of_two_hosts_sum(self):
        result = self.run_job("a:2,b:2", "sum", 100001, 5)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.count("5 rounds are right, by hosts"), 4, result.stdout)

    def test_unequal_hosts(self):
        result = self.run_job("a:3,b:1", "sum", 7, 3)
        self.assertEqual(result.stdout.count("3 rounds are right"), 4, result.stdout + result.stderr)

    def test_in_the_clear_with_a_warning(self):
        result = self.run_job("a:1,b:1", "sum", 1000, 2, options=["--no-encryption"])
        self.assertEqual(result.stdout.count("2 rounds are right"), 2, result.stdout + result.stderr)
        self.assertIn("are not encrypted", result.stderr)

    def test_a_named_interface(self):
        result = self.run_job("a:1,b:1", "sum", 1000, 2, options=["--interface", "eth0"])
        self.assertEqual(result.stdout.count("2 rounds are right"), 2, result.stdout + result.stderr)
        result = self.run_job("a:1,b:1", "sum", 1000, 2, options=["--interface", "eth7"])
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("eth0", result.stderr)

    def test_a_new_generation_forms_by_itself(self):
        result = self.run_job("a:2,b:2", "renew", 5)
        self.assertEqual(result.stdout.count("5 generations"), 4, result.stdout + result.stderr)
        print(result.stdout.splitlines()[0])

    def test_by_a_directory_and_by_an_address(self):
        for rendezvous in ("file:{folder}/meet", f"rank0:{self.hosts.address('a')}:4711", f"rank0:[{self.hosts.address6('a')}]:4711"):
            for text in self.by_hand(rendezvous, "sum", 1000, 3):
                self.assertIn("3 rounds are right", text)

    def test_with_different_keys_nobody_meets(self):
        for rendezvous in ("file:{folder}/meet", f"rank0:{self.hosts.address('a')}:4711"):
            for text in self.by_hand(rendezvous, "sum", 1000, 3, keys=("key", "another")):
                self.assertIn("timed_out", text)


class Settings(OnHosts):
    def test_sums_travel_as_16_bits(self):
        count, rounds = 1 << 20, 4
        # On a busy machine links measure differently, and another algorithm sends other amounts.
        options = [*self.remembering(), "--algorithm", "hierarchical"]
        sent = {}
        for wire in ("f32", "bf16"):
            before = self.hosts.sent_bytes("a")
            result = self.run_job("a:2,b:2", "sum", count, rounds, options=[*options, "--wire", wire])
            self.assertEqual(result.stdout.count("4 rounds are right"), 4, result.stdout + result.stderr)
            sent[wire] = self.hosts.sent_bytes("a") - before
        print(f"sent {sent['f32']} and {sent['bf16']} bytes")
        self.assertLess(sent["f32"] - sent["bf16"], 0.55 * rounds * 4 * count)
        self.assertGreater(sent["f32"] - sent["bf16"], 0.45 * rounds * 4 * count)

    def test_several_sockets(self):
        result = self.run_job("a:1,b:1", "sum", 1000000, 3, options=["--sockets", "3"])
        self.assertEqual(result.stdout.count("3 rounds are right"), 2, result.stdout + result.stderr)
        result = self.run_job("a:1,b:1", "sum", 1, 1, options=["--sockets", "9"])
        self.assertEqual(result.returncode, 2, result.stderr)

    def test_what_is_chosen_is_printed_and_can_be_forced(self):
        result = self.run_job("a:1,b:1", "sum", 1000, 1, options=["--set", "communication.explain=true"])
        self.assertIn("between hosts: ", result.stdout)
        self.assertRegex(result.stdout, r"all_reduce +direct, ")
        result = self.run_job("a:1,b:1", "sum", 1000, 1, options=["--set", "communication.explain=true", "--algorithm", "ring"])
        self.assertRegex(result.stdout, r"all_reduce +ring, ")
        self.assertNotIn("all_reduce", self.run_job("a:1,b:1", "sum", 1000, 1).stdout)

    def test_links_are_remembered(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        lines = []
        for _ in range(2):
            result = self.run_job("a:1,b:1", "sum", 1000, 1, options=["--env", f"COHORT_LINK_CACHE={folder}"])
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            lines.append({path.name: path.read_text() for path in folder.iterdir()})
        self.assertEqual([name.endswith("-tcp-tls-1") for name in lines[0]], [True], lines[0])
        self.assertEqual(lines[0], lines[1], "it was measured again")

    def test_a_bench_of_ranks(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        words = self.hosts.inside("a", TOOL, "run", "--hosts", "a:1,b:1", "--start", self.hosts.start_way(), "--output-dir", folder,
                                  TOOL, "bench", "ranks", "--json", "--sizes", "4KiB,64KiB", "--rounds", 2, "--time", "20ms",
                                  "--operations", "all_reduce,all_to_all", "--algorithms", "ring,direct")
        result = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads((folder / "rank-0.out").read_text())
        rows = {(row["operation"], row["bytes"], row["algorithm"]) for row in report["rows"]}
        self.assertEqual(rows, {("all_reduce", size, way) for size in (4096, 65536) for way in ("ring", "direct")}
                         | {("all_to_all", size, "direct") for size in (4096, 65536)})
        self.assertGreater(report["bare_tcp_mbps"], 0)
        self.assertTrue(all(row["predicted_us"] > 0 and row["p10_us"] > 0 for row in report["rows"]))


class OnTheWire(OnHosts):
    def hear(self, shares, *words, options=()):
        """All bytes on the network interfaces of host b while a job runs."""
        heard = bytearray()
        stop = threading.Event()
        ready = threading.Event()

        def listen():
            with open(f"/run/netns/{self.hosts.space('b')}") as space:
                os_setns(space.fileno())
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3)) as wire:
                wire.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
                wire.settimeout(0.1)
                ready.set()
                while not stop.is_set():
                    try:
                        heard.extend(wire.recv(1 << 16))
                    except TimeoutError:
                        pass

        listener = threading.Thread(target=listen)
        listener.start()
        ready.wait(LIMIT)
        result = self.run_job(shares, *words, options=options)
        stop.set()
        listener.join()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return bytes(heard)

    def test_payloads_are_seen_without_encryption_only(self):
        # A part of rank 0's input, which crosses the wire with every algorithm.
        payload = struct.pack("<8f", *[(7 * i) % 61 for i in range(3, 11)])
        # Several rounds with pauses: a listener that gets little CPU time loses packets of the measurements before them.
        clear = self.hear("a:1,b:1", "sum", 200000, 10, 50, options=["--no-encryption"])
        self.assertIn(payload, clear)
        self.assertIn(b"COHF", clear)
        secret = self.hear("a:1,b:1", "sum", 200000, 1)
        self.assertGreater(len(secret), 400000)
        self.assertNotIn(payload, secret)
        self.assertNotIn(b"COHF", secret)

    def test_a_host_sends_no_more_than_it_must(self):
        count, rounds = 2 << 20, 4
        options = self.remembering()
        before = self.hosts.sent_bytes("a")
        result = self.run_job("a:2,b:2", "sum", count, rounds, options=options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        sent = self.hosts.sent_bytes("a") - before
        formula = rounds * 4 * count  # 2 (h - 1) / h of each sum, for h = 2
        print(f"sent {sent} bytes, by the formula {formula}: {sent / formula:.4f}")
        self.assertGreater(sent, formula)
        self.assertLess(sent, 1.06 * formula)  # headers of all layers, handshakes and heartbeats


class Broken(OnHosts):
    def test_a_killed_rank_is_named_with_its_host(self):
        result = self.run_job("a:2,b:2", "die", 3, 1000)
        self.assertEqual(result.returncode, 128 + signal.SIGKILL, result.stdout + result.stderr)
        self.assertIn("rank 3 on b failed first: it was killed by signal 9", result.stderr)

    def test_the_others_say_who_is_gone(self):
        other, killed = self.start_by_hand("file:{folder}/meet", "sum", 1000, 100000, 1)
        for rank in (other, killed):
            while "going" not in rank.stdout.readline():
                self.assertIsNone(rank.poll())
        began = time.monotonic()
        killed.kill()
        text = other.stdout.readline()
        print(f"seen {1000 * (time.monotonic() - began):.1f} ms after the kill")
        self.assertRegex(text, r"peer_lost: .*rank 1 is lost")
        for rank in (other, killed):
            rank.communicate(timeout=LIMIT)

    def test_a_short_cut_is_mended(self):
        for name, cut, mend in (("cable", lambda: self.hosts.cut("b"), lambda: self.hosts.mend("b")),
                                ("one way", lambda: self.hosts.rule("b", "ip saddr 10.77.0.1 drop; ip6 saddr fd77::1 drop"),
                                 lambda: self.hosts.forget_rules("b")),
                                ("reset", lambda: self.hosts.rule("b", "tcp flags & syn == 0 reject with tcp reset"),
                                 lambda: self.hosts.forget_rules("b"))):
            with self.subTest(name):
                job = self.start_job("a:1,b:1", "sum", 300000, 150, 10)
                self.wait_until(job, "going", 2)
                cut()
                time.sleep(1)
                mend()
                out, err = self.finish(job)
                self.assertEqual(job.returncode, 0, out + err)
                self.assertEqual(out.count("150 rounds are right"), 2, out + err)

    def test_a_long_cut_is_named_on_both_sides(self):
        for name, cut, mend in (("cable", lambda: self.hosts.cut("b"), lambda: self.hosts.mend("b")),
                                ("one way", lambda: self.hosts.rule("b", "ip saddr 10.77.0.1 drop; ip6 saddr fd77::1 drop"),
                                 lambda: self.hosts.forget_rules("b"))):
            with self.subTest(name):
                job = self.start_job("a:1,b:1", "sum", 300000, 100000, 10)
                self.wait_until(job, "going", 2)
                cut()
                began = time.monotonic()
                out, err = self.finish(job)
                print(f"{name}: over after {time.monotonic() - began:.1f} s")
                mend()
                self.assertNotEqual(job.returncode, 0)
                self.assertRegex(out, r"peer_lost: .*(lost|left)")

    def test_a_stopped_rank_goes_on_when_it_is_let(self):
        job = self.start_job("a:1,b:1", "sum", 300000, 100, 10)
        self.wait_until(job, "going", 2)
        pid = self.pids()[1]
        os.kill(pid, signal.SIGSTOP)
        time.sleep(1)
        os.kill(pid, signal.SIGCONT)
        out, err = self.finish(job)
        self.assertEqual(out.count("100 rounds are right"), 2, out + err)

    def test_nobody_is_left(self):
        job = self.start_job("a:2,b:2", "sum", 1000, 100000, 1)
        self.wait_until(job, "going", 4)
        pids = self.pids()
        job.kill()
        job.wait(timeout=LIMIT)
        until = time.monotonic() + LIMIT
        while any(map(is_alive, pids.values())) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual([pid for pid in pids.values() if is_alive(pid)], [])

    def test_a_host_that_cannot_be_reached(self):
        result = self.run_job("a:1,nowhere:1", "sum", 1, 1)
        self.assertEqual(result.returncode, 1)
        self.assertIn("host nowhere was lost", result.stderr)


def os_setns(descriptor):
    import ctypes
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0x40000000) != 0:  # CLONE_NEWNET, of this thread
        raise OSError(ctypes.get_errno(), "setns")


if __name__ == "__main__":
    unittest.main()
