"""Hosts for tests: network namespaces of this machine, each with one cable to a common switch.

Needs root, `ip` (iproute2), `nsenter` and `nft` (nftables). Everything is removed at the end."""

import contextlib
import os
import pathlib
import shutil
import subprocess

# Measurements between such hosts are useless for later jobs.
os.environ.setdefault("COHORT_LINK_CACHE", "off")

SKIPPED = 77  # CTest reports this exit code as skipped


def missing():
    """The reason why these tests cannot run here; empty if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program, package in (("ip", "iproute2"), ("nft", "nftables"), ("nsenter", "util-linux")):
        if not shutil.which(program):
            return f"{program} is not installed (package {package})"
    return ""


def command(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **more).stdout


class Cluster:
    """`with Cluster("a", "b") as hosts`: hosts.address("a"), hosts.inside("a", "program", …), hosts.cut("b")."""

    def __init__(self, *names):
        self.names = names
        self.switch = self.space("switch")

    def space(self, name):
        return f"cohort-{os.getpid()}-{name}"

    def index(self, name):
        return self.names.index(name) + 1

    def address(self, name):
        return f"10.77.0.{self.index(name)}"

    def address6(self, name):
        return f"fd77::{self.index(name)}"

    def inside(self, name, *words):
        return ["nsenter", f"--net=/run/netns/{self.space(name)}", *[str(word) for word in words]]

    def start_way(self):
        """The value of `cohort run --start`."""
        return f"nsenter --net=/run/netns/{self.space('{host}')}"

    def __enter__(self):
        self.taken = contextlib.ExitStack()
        try:
            self.add_space("switch")
            command(*self.inside("switch", "ip", "link", "add", "bridge", "type", "bridge"))
            command(*self.inside("switch", "ip", "link", "set", "bridge", "up"))
            for name in self.names:
                self.add_host(name)
        except BaseException:
            self.taken.close()
            raise
        return self

    def __exit__(self, *_):
        self.taken.close()

    def add_space(self, name):
        command("ip", "netns", "add", self.space(name))
        self.taken.callback(subprocess.run, ["ip", "netns", "delete", self.space(name)], capture_output=True)

    def add_host(self, name):
        self.add_space(name)
        port = f"port{self.index(name)}"
        command("ip", "link", "add", port, "netns", self.switch, "type", "veth", "peer", "name", "eth0",
                "netns", self.space(name))
        for words in (["lo", "up"], ["eth0", "up"]):
            command(*self.inside(name, "ip", "link", "set", *words))
        command(*self.inside(name, "ip", "address", "add", f"{self.address(name)}/24", "dev", "eth0"))
        command(*self.inside(name, "ip", "address", "add", f"{self.address6(name)}/64", "dev", "eth0", "nodad"))
        command(*self.inside("switch", "ip", "link", "set", port, "master", "bridge", "up"))
        # The default of Linux, whatever this machine is configured to.
        command(*self.inside(name, "ip", "route", "replace", "10.77.0.0/24", "dev", "eth0", "src", self.address(name),
                             "congctl", "cubic"))

    def shape(self, megabits, *names):
        """Limits the cables of these hosts, or of all, to this many Mbit/s in each direction."""
        for name in names or self.names:
            for space, port in ((name, "eth0"), ("switch", f"port{self.index(name)}")):
                command(*self.inside(space, "tc", "qdisc", "replace", "dev", port, "root", "tbf", "rate",
                                     f"{megabits}mbit", "burst", "64kb", "latency", "50ms"))

    def cut(self, name):
        """Pulls the cable."""
        command(*self.inside("switch", "ip", "link", "set", f"port{self.index(name)}", "down"))

    def mend(self, name):
        command(*self.inside("switch", "ip", "link", "set", f"port{self.index(name)}", "up"))

    def rule(self, name, text):
        """Adds an nft rule for incoming packets of a host; forget_rules() removes it."""
        table = f"table inet cuts {{\n chain in {{\n type filter hook input priority 0;\n {text}\n }}\n}}\n"
        command(*self.inside(name, "nft", "-f", "-"), input=table)

    def forget_rules(self, name):
        command(*self.inside(name, "nft", "flush", "ruleset"))

    def sent_bytes(self, name):
        path = "/sys/class/net/eth0/statistics/tx_bytes"
        return int(command("ip", "netns", "exec", self.space(name), "cat", path))


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
