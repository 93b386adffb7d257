"""Several rails between two hosts with two cables use both cables."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from cluster import SKIPPED, Cluster, command, missing

if missing():
    print(f"skipped: {missing()}")
    sys.exit(SKIPPED)

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
RANK = pathlib.Path(sys.argv.pop(1)).resolve()
LIMIT = 60  # seconds; only a broken program takes this long
MEGABITS = 100  # bandwidth of each cable in Mbit/s
COUNT, ROUNDS = 1 << 20, 2


class TwoCables(Cluster):
    """Hosts a and b, each with a cable to the switch, and a second cable from host to host."""

    def __enter__(self):
        super().__enter__()
        try:
            command("ip", "link", "add", "eth1", "netns", self.space("a"), "type", "veth", "peer", "name", "eth1",
                    "netns", self.space("b"))
            for name in self.names:
                command(*self.inside(name, "ip", "address", "add", f"10.78.0.{self.index(name)}/24", "dev", "eth1"))
                command(*self.inside(name, "ip", "link", "set", "eth1", "up"))
                command(*self.inside(name, "tc", "qdisc", "replace", "dev", "eth1", "root", "tbf", "rate",
                                     f"{MEGABITS}mbit", "burst", "64kb", "latency", "50ms"))
            self.shape(MEGABITS)
        except BaseException:
            self.__exit__()
            raise
        return self

    def sent_by(self, name):
        """Bytes that a host has sent on each of its cables."""
        paths = [f"/sys/class/net/eth{i}/statistics/tx_bytes" for i in range(2)]
        return [int(line) for line in command("ip", "netns", "exec", self.space(name), "cat", *paths).split()]


class Rails(unittest.TestCase):
    def setUp(self):
        self.hosts = TwoCables("a", "b")
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)

    def start(self, folder, rank, rails):
        environment = {**os.environ, "COHORT_RANK": str(rank), "COHORT_WORLD": "2", "COHORT_LOCAL_RANK": "0",
                       "COHORT_LOCAL_WORLD": "1", "COHORT_RENDEZVOUS": f"file:{folder}/meet",
                       "COHORT_KEY_FILE": str(folder / "key")}
        words = self.hosts.inside("ab"[rank], RANK, rails, COUNT, ROUNDS)
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)

    def run_job(self, *rails):
        """Runs one rank per host with these numbers of rails, or auto, and returns their output."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([TOOL, "key", folder / "key"], check=True, capture_output=True)
            ranks = [self.start(folder, rank, count) for rank, count in enumerate(rails)]
            return [rank.communicate(timeout=LIMIT)[0] for rank in ranks]

    def shares(self, rails):
        """The share of a host's bytes on each cable."""
        before = self.hosts.sent_by("a")
        texts = self.run_job(rails, rails)
        for text in texts:
            self.assertIn(f"{ROUNDS} rounds are right", text)
        sent = [after - first for after, first in zip(self.hosts.sent_by("a"), before)]
        print(f"{texts[0].strip()}: {sent[0]} and {sent[1]} bytes by the two cables")
        self.assertGreater(sum(sent), ROUNDS * 4 * COUNT)
        return [each / sum(sent) for each in sent]

    def test_two_take_both_cables_and_one_takes_one(self):
        for share in self.shares(2):
            self.assertAlmostEqual(share, 0.5, delta=0.1)
        self.assertGreater(self.shares(1)[0], 0.95)

    def test_without_a_number_both_are_taken_where_that_is_faster(self):
        self.assertGreater(self.shares("auto")[1], 0.25)  # the measurement with one rail used the first cable

    def test_without_a_number_a_slow_cable_is_left_alone(self):
        for name in "ab":
            command(*self.hosts.inside(name, "tc", "qdisc", "replace", "dev", "eth1", "root", "tbf", "rate", "10mbit", "burst", "64kb",
                                       "latency", "50ms"))
        self.assertLess(self.shares("auto")[1], 0.25)

    def test_a_rail_falls_back_to_the_other_cable(self):
        self.hosts.rule("a", "iifname eth1 drop")
        self.assertGreater(self.shares(2)[0], 0.95)

    def test_all_must_have_the_same_number(self):
        self.assertIn("the peer has 2 rails, this member 3", self.run_job(2, 3)[1])


if __name__ == "__main__":
    unittest.main()
