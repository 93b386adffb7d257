"""Shared by the tests of `cohort train`: a job in a folder of its own, started as a user starts it."""

import array
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 120  # seconds; only a broken tool takes this long


def toml_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)  # strings, numbers and lists are written the same in JSON and TOML


def toml(sections):
    lines = []
    for name, keys in sections.items():
        lines += [f"[{name}]", *(f"{key} = {toml_value(value)}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def tensors_of(path):
    """(float32 numbers by name, metadata) of a safetensors file, read without torch."""
    content = path.read_bytes()
    length, = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        assert entry["dtype"] == "F32", (name, entry)
        tensors[name] = array.array("f", content[8 + length + first:8 + length + last])
    return tensors, metadata


def write_idx(path, dims, content):
    """Writes bytes as an IDX file, compressed if the name ends with .gz."""
    data = bytes([0, 0, 8, len(dims)]) + b"".join(struct.pack(">I", dim) for dim in dims) + bytes(content)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


class TrainJob(unittest.TestCase):
    """A folder with a job. Processes that a test started are ended with the test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.runs = 0

    def write_job(self, sections, name="job.toml"):
        path = self.folder / name
        path.write_text(toml(sections))
        return path

    def words(self, sections, *options, ranks=2, threads=1):
        """The command for a job; its run directory is self.directory."""
        self.runs += 1
        self.directory = self.folder / f"run {self.runs}"
        sections = {**sections, "train": {"directory": str(self.directory), **sections.get("train", {})}}
        job = self.write_job(sections, f"job {self.runs}.toml")
        return [TOOL, "train", str(job), "-n", str(ranks), "--threads", str(threads), *options]

    def run_job(self, sections, *options, ranks=2, threads=1, **more):
        more.setdefault("timeout", LIMIT)
        return subprocess.run(self.words(sections, *options, ranks=ranks, threads=threads), text=True,
                              **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})

    def train(self, sections, *options, **more):
        """The JSON object that a successful job prints at its end."""
        result = self.run_job(sections, "--json", *options, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def steps(self, directory=None):
        lines = ((directory or self.directory) / "steps.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def start(self, sections, *options, **more):
        job = subprocess.Popen(self.words(sections, *options, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)

        def clean_up():
            if job.poll() is None:
                job.terminate()  # the tool ends its ranks
            job.communicate(timeout=LIMIT)

        self.addCleanup(clean_up)
        return job

    def wait_for(self, condition, what):
        deadline = time.monotonic() + LIMIT
        while not (seen := condition()):
            self.assertLess(time.monotonic(), deadline, f"{what} did not happen")
            time.sleep(0.02)
        return seen

    def wait_for_steps(self, job, directory=None):
        """Waits until the log has a line: training has begun."""
        log = (directory or self.directory) / "steps.jsonl"

        def logged():
            self.assertIsNone(job.poll(), "the job ended before the first step")
            return log.exists() and log.stat().st_size > 0

        self.wait_for(logged, "the first step")

    def end_of(self, job):
        output, error_output = job.communicate(timeout=LIMIT)
        return job.returncode, output, error_output


def ranks_of(job):
    """The processes of the ranks of a job, by rank."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int(entry.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent != job.pid:
                continue
            rank = re.search(rb"(?:^|\0)COHORT_RANK=(\d+)\0", entry.joinpath("environ").read_bytes())
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if rank:
            found[int(rank.group(1))] = int(entry.name)
    return found


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
