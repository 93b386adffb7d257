"""Jobs on several hosts with real launchers: ssh, with an OpenSSH server on each host, and torchrun."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from cluster import SKIPPED, Cluster, missing

if missing():
    print(f"skipped: {missing()}")
    sys.exit(SKIPPED)

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
EXAMPLE = pathlib.Path(sys.argv.pop(1)).resolve()
PYTHON = pathlib.Path(sys.argv.pop(1))
SSHD = pathlib.Path("/usr/sbin/sshd")
LIMIT = 100  # seconds; only a broken program takes this long


def has_torch():
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import torch.distributed.run"], capture_output=True).returncode == 0


class TwoHosts(unittest.TestCase):
    def setUp(self):
        self.hosts = Cluster("a", "b")
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def here(self, *words):
        """Runs a command on host a."""
        return subprocess.run(self.hosts.inside("a", *words), capture_output=True, text=True, timeout=LIMIT)


@unittest.skipUnless(SSHD.exists() and shutil.which("ssh"), "the package openssh-server is not installed")
class Ssh(TwoHosts):
    def setUp(self):
        super().setUp()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        shutil.copy(self.folder / "user.pub", self.folder / "authorized")
        (self.folder / "config").write_text(f"Host *\n IdentityFile {self.folder}/user\n StrictHostKeyChecking no\n"
                                            " UserKnownHostsFile /dev/null\n LogLevel ERROR\n")
        os.makedirs("/run/sshd", exist_ok=True)
        for name in "ab":
            self.serve(name)
        self.start = ["--start", f"ssh -F {self.folder}/config -o BatchMode=yes {{host}}"]

    def serve(self, name):
        options = {"ListenAddress": self.hosts.address(name), "AuthorizedKeysFile": self.folder / "authorized", "StrictModes": "no",
                   "PidFile": "none", "PermitRootLogin": "yes", "UsePAM": "no"}
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        log = self.folder / f"log-{name}"
        with open(log, "w") as out:
            server = subprocess.Popen(self.hosts.inside(name, SSHD, "-D", "-e", "-f", "/dev/null", "-h", self.folder / "host", *words),
                                      stderr=out)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        until = time.monotonic() + LIMIT
        while "Server listening" not in log.read_text() and time.monotonic() < until:
            time.sleep(0.02)

    def addresses(self, ranks=""):
        return ",".join(self.hosts.address(name) + ranks for name in "ab")

    def test_a_job_runs(self):
        result = self.here(TOOL, "run", "--hosts", self.addresses(":2"), *self.start, "--no-prefix", EXAMPLE)
        self.assertEqual((result.returncode, result.stdout), (0, "4 ranks, sum 10\n"), result.stderr)

    def test_who_fails_is_named(self):
        script = "[ $COHORT_RANK = 1 ] && { echo about to fail >&2; exit 7; }; sleep 50"
        result = self.here(TOOL, "run", "--hosts", self.addresses(":1"), *self.start, "sh", "-c", script)
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertIn(f"rank 1 on {self.hosts.address('b')} failed first: it exited with 7", result.stderr)
        self.assertIn("about to fail", result.stderr)

    def test_doctor_looks_at_the_hosts(self):
        result = self.here(TOOL, "doctor", "--hosts", self.addresses(), *self.start, "--time", "100ms")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        for name in "ab":
            self.assertRegex(result.stdout, f"{self.hosts.address(name)} +fine")


@unittest.skipUnless(has_torch(), "there is no Python with torch")
class Torchrun(TwoHosts):
    def test_two_nodes_of_two_ranks(self):
        subprocess.run([TOOL, "key", self.folder / "key"], check=True, capture_output=True)
        environment = {**os.environ, "COHORT_KEY_FILE": str(self.folder / "key"), "OMP_NUM_THREADS": "1"}
        nodes = []
        for number, name in enumerate("ab"):
            words = ["-m", "torch.distributed.run", "--nnodes", 2, "--nproc-per-node", 2, "--node-rank", number, "--master-addr",
                     self.hosts.address("a"), "--master-port", 29400, "--no-python", EXAMPLE]
            nodes.append(subprocess.Popen(self.hosts.inside(name, PYTHON, *words), env=environment, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True))
        texts = [node.communicate(timeout=LIMIT) for node in nodes]
        self.assertEqual([node.returncode for node in nodes], [0, 0], texts)
        self.assertEqual(texts[0][0], "4 ranks, sum 10\n")


if __name__ == "__main__":
    unittest.main()
