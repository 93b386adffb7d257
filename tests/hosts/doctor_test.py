"""Tests of `cohort doctor --hosts`: findings about hosts and about the links between them."""

import json
import os
import pathlib
import pty
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from cluster import SKIPPED, Cluster, missing

if missing():
    print(f"skipped: {missing()}")
    sys.exit(SKIPPED)

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
LIMIT = 120  # seconds; only a broken program takes this long


class OfHosts(unittest.TestCase):
    """Three hosts; the doctor runs on the first."""

    def setUp(self):
        self.hosts = Cluster("a", "b", "c")
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def words(self, *options, hosts="a,b,c"):
        return self.hosts.inside("a", TOOL, "doctor", "--hosts", hosts, "--start", self.hosts.start_way(),
                                 "--set", "doctor.probe_libtorch=false", "--time", "100ms", *options)

    def doctor(self, *options, **more):
        return subprocess.run(self.words(*options, **more), capture_output=True, text=True, timeout=LIMIT)

    def report(self, *options, **more):
        result = self.doctor("--json", *options, **more)
        self.assertTrue(result.stdout, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0 if report["ok"] else 1, result.stdout + result.stderr)
        return report

    def stand_in(self, text):
        """A script in place of the tool on the hosts. {tool} is the real tool, $address the address of the host."""
        path = self.folder / "stand-in"
        path.write_text("#!/bin/sh\naddress=$(ip -4 -o address show eth0 | sed 's/.*inet //; s,/.*,,')\n"
                        + text.format(tool=TOOL))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    @staticmethod
    def findings(report, topic):
        return [finding for finding in report["findings"] if finding["topic"] == topic]

    @staticmethod
    def rate(report, source, target):
        (link,) = [link for link in report["links"] if (link["from"], link["to"]) == (source, target)]
        return 8e-6 * link["bytes_per_second"]


class Healthy(OfHosts):
    def test_every_way_is_measured_and_drawn(self):
        plot = self.folder / "plot.svg"
        report = self.report("--plot", plot)
        self.assertTrue(report["ok"], report)
        self.assertEqual([host["name"] for host in report["hosts"]], ["a", "b", "c"])
        ways = {(link["from"], link["to"]) for link in report["links"]}
        self.assertEqual(ways, {(s, t) for s in "abc" for t in "abc" if s != t})
        for link in report["links"]:
            self.assertGreater(link["latency_s"], 0)
            self.assertGreater(link["bytes_per_second"], 0)
        for host, number in (("b", 2), ("c", 3)):
            (found,) = [each for each in report["hosts"] if each["name"] == host]
            self.assertEqual(found["addresses"], [f"eth0 10.77.0.{number}"])
            self.assertEqual(found["version"], report["version"])
            self.assertGreater(found["cores"], 0)
            self.assertLessEqual(abs(found["clock_offset_s"]), found["clock_error_s"] + 1e-4)  # all hosts share one clock
        drawn = xml.etree.ElementTree.parse(plot).getroot()
        texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual([texts.count(name) for name in "abc"], [4, 4, 4])

    def test_pairs_at_once_and_tables_with_heat_on_a_terminal(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        with subprocess.Popen(self.words("--at-once", "--no-encryption", hosts="a:1,c:2"), stdout=theirs, stderr=theirs,
                              env={**os.environ, "TERM": "xterm"}) as doctor:
            os.close(theirs)
            text = self.read_all(ours)
        self.assertEqual(doctor.returncode, 0, text)
        self.assertNotIn("thread counts", text)
        self.assertIn("measured 2 of 2 links", text)
        self.assertRegex(text, r"\x1b\[38;5;\d+;48;5;\d+m *[\d.]+ [GM]bit/s")
        self.assertIn("are not encrypted", text)

    @staticmethod
    def read_all(terminal):
        text = b""
        while True:
            try:
                piece = os.read(terminal, 1 << 16)
            except OSError:  # the other end is closed
                return text.decode()
            text += piece
            if not piece:
                return text.decode()


class Sick(OfHosts):
    def undisturbed_report(self):
        """A machine that is busy with other things may measure every link as slow: then the links are measured again."""
        for _ in range(5):
            report = self.report()
            if len(self.findings(report, "c")) == 1 and self.rate(report, "a", "b") > 1000:
                break
        return report

    def test_a_slow_cable_is_named(self):
        self.hosts.shape(50, "c")
        report = self.undisturbed_report()
        self.assertTrue(report["ok"], report)
        for source, target in ("ac", "ca", "bc", "cb"):
            self.assertLess(self.rate(report, source, target), 200)
            self.assertGreater(self.rate(report, source, target), 10)
            self.assertGreater(self.rate(report, "a", "b"), 3 * self.rate(report, source, target))
        (finding,) = self.findings(report, "c")
        self.assertEqual(finding["severity"], "warning")
        self.assertRegex(finding["found"], r"slow: [\d.]+ Mbit/s")

    def test_a_pair_that_is_cut_is_named_and_the_others_are_measured(self):
        self.hosts.rule("c", "ip saddr 10.77.0.2 drop; ip6 saddr fd77::2 drop")
        report = self.report()
        self.assertFalse(report["ok"])
        (finding,) = self.findings(report, "b - c")
        self.assertEqual(finding["severity"], "problem")
        self.assertRegex(finding["found"], r"10\.77\.0\.[23]|fd77::[23]")
        self.assertEqual({(each["from"], each["to"]) for each in report["unreachable"]}, {("b", "c"), ("c", "b")})
        self.assertGreater(self.rate(report, "a", "b"), 0)
        self.assertGreater(self.rate(report, "c", "a"), 0)
        self.assertNotIn("bytes_per_second", [link for link in report["links"] if link["from"] + link["to"] == "bc"][0])

    NEW_CONNECTIONS = "ip saddr {0} tcp flags & (syn | ack) == syn drop; ip6 saddr {1} tcp flags & (syn | ack) == syn drop"

    def refuse(self, host, peer):
        """The firewall of `host` drops connections that `peer` opens, but not those that it opens itself."""
        self.hosts.rule(host, self.NEW_CONNECTIONS.format(self.hosts.address(peer), self.hosts.address6(peer)))

    def test_the_direction_that_is_cut_is_named_at_once(self):
        self.refuse("a", "b")  # b cannot even reach the rendezvous, which is on a
        self.refuse("b", "c")
        result = self.doctor("--json")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"cohort: b cannot reach a: no answer from 10\.77\.0\.1:\d+")
        self.assertRegex(result.stderr, r"cohort: c cannot reach b: no answer from 10\.77\.0\.2:\d+")
        report = json.loads(result.stdout)
        self.assertEqual([(each["from"], each["to"]) for each in report["unreachable"]], [("b", "a"), ("c", "b")])
        # A busy machine may measure other links as slow, which is a warning.
        self.assertEqual([finding["topic"] for finding in report["findings"] if finding["severity"] == "problem"],
                         ["b -> a", "c -> b"])
        self.assertGreater(self.rate(report, "a", "c"), 0)
        self.assertGreater(self.rate(report, "c", "a"), 0)

    def test_a_host_that_cannot_reach_the_launcher_is_named(self):
        self.refuse("a", "c")
        report = self.report(hosts="b,c")
        (finding,) = self.findings(report, "c -> this host")
        self.assertRegex(finding["found"], r"no answer from 10\.77\.0\.1:\d+")
        self.assertEqual(report["unreachable"][0]["to"], None)

    def test_a_host_that_cannot_be_started_is_named_and_the_others_are_measured(self):
        report = self.report(hosts="a,nowhere,c")
        self.assertFalse(report["ok"])
        (finding,) = self.findings(report, "nowhere")
        self.assertIn("nowhere", finding["found"])
        self.assertIn("No such file", report["hosts"][1]["failure"])
        self.assertEqual([host["verdict"] for host in report["hosts"]], ["fine", "problem", "fine"])
        self.assertGreater(self.rate(report, "a", "c"), 0)
        self.assertEqual(len(report["links"]), 2)

    def test_another_version_is_named(self):
        other = self.stand_in('if [ "$address" = 10.77.0.2 ]; then echo cohort-agent 9.9.9; cat >/dev/null; else exec {tool} "$@"; fi\n')
        report = self.report("--remote-cohort", other)
        self.assertFalse(report["ok"])
        (finding,) = self.findings(report, "b")
        self.assertIn("9.9.9", finding["found"])
        self.assertIn("same version", finding["remedy"])
        self.assertEqual(report["hosts"][1]["version"], "9.9.9")
        self.assertEqual(len(report["links"]), 2)

    def test_what_a_host_finds_of_itself_is_told(self):
        report = self.report("--set", "launch.memory_per_rank=1TiB", hosts="a,b:3")
        self.assertFalse(report["ok"])
        for host in "ab":
            (finding,) = self.findings(report, f"{host}: memory")
            self.assertEqual(finding["severity"], "problem")
        self.assertIn("3", self.findings(report, "b: memory")[0]["found"])

    def test_mistakes_are_told_before_anything_is_started(self):
        for words in (["--hosts", "a,a"], ["--plot", "x.svg"], ["--at-once"], ["--hosts", "a", "--time", "1h"], ["--hosts", "a", "--start", "ssh you"]):
            result = subprocess.run([TOOL, "doctor", *words], capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(result.returncode, 2, (words, result.stdout, result.stderr))


if __name__ == "__main__":
    unittest.main()
