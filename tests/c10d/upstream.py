#!/usr/bin/env python3
"""Runs the tests of torch.distributed that ship in the wheel of torch, with Cohort (or Gloo) as the backend.

  tests/c10d/upstream.py --backend cohort --world 2 [test ...]

prints one line for each test and a count at the end; names select tests. The tests skip themselves by the name of the
backend. With --as gloo Cohort takes that name, and the tests for Gloo run. With --as mpi the tests take Cohort for MPI: only
for MPI do they run all_to_all on CPU, and fewer than eight ranks. BACKEND and WORLD_SIZE must be set before torch's test
module is imported, also in the processes that it spawns: they import this file again."""

import argparse
import os
import pathlib
import sys
import tempfile
import time
import unittest

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cohort")
    parser.add_argument("--as", dest="name", choices=["gloo", "mpi"], help="the backend name that the tests see")
    parser.add_argument("--world", default="2")
    parser.add_argument("--list", action="store_true", help="names only")
    parser.add_argument("--json", help="write the outcome of each test to this file")
    parser.add_argument("tests", nargs="*", help="names, or parts of names")
    ARGUMENTS = parser.parse_args()
    os.environ["BACKEND"] = ARGUMENTS.name or ARGUMENTS.backend
    os.environ["COHORT_AS"] = ARGUMENTS.name or ""
    os.environ["WORLD_SIZE"] = ARGUMENTS.world
    FOLDER = tempfile.TemporaryDirectory(prefix="cohort-upstream-")
    os.environ["TEMP_DIR"] = FOLDER.name
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    sys.argv = sys.argv[:1]

import torch  # noqa: E402
import torch.distributed.distributed_c10d as c10d  # noqa: E402
import torch.distributed as dist  # noqa: E402

import cohort_c10d  # noqa: E402, F401
from torch.testing._internal.common_distributed import DistTestCases  # noqa: E402

for feature in ("ddp", "subgroup"):
    DistTestCases.backend_feature[feature] |= {"cohort", "mpi"}

from torch.testing._internal.distributed import distributed_test  # noqa: E402

torch.backends.cuda.matmul.allow_tf32 = False


class Anything(type):
    def __instancecheck__(cls, thing):
        return isinstance(thing, torch._C._distributed_c10d.Backend)


class StandIn(metaclass=Anything):
    """Replaces ProcessGroupGloo: constructs a backend of Cohort."""

    def __new__(cls, store, rank, size, timeout):
        options = c10d._DistributedBackendOptions()
        options.store, options.group_rank, options.group_size, options.timeout = store, rank, size, timeout
        return cohort_c10d._create(options, None, "gloo")


if os.environ.get("COHORT_AS") == "gloo":
    c10d.ProcessGroupGloo = StandIn
if os.environ.get("COHORT_AS") == "mpi":
    distributed_test.BACKEND = "cohort"  # after the import, which decided about skips: the backend of the groups


class Upstream(distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase):
    def setUp(self):
        super().setUp()
        self._spawn_processes()


class Lines(unittest.TestResult):
    """Prints one line for each test as it ends."""

    def __init__(self):
        super().__init__()
        self.outcomes = {}
        self.began = 0.0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def note(self, test, outcome, words=""):
        name = test._testMethodName
        self.outcomes[name] = {"outcome": outcome, "words": words}
        last = words.strip().splitlines()[-1][:160] if words.strip() else ""
        print(f"{outcome:8}{time.monotonic() - self.began:6.1f} s  {name}  {last}", flush=True)

    def addSuccess(self, test):
        self.note(test, "passed")

    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, "FAILED", str(error[1]))

    addError = addFailure

    def addExpectedFailure(self, test, error):
        self.note(test, "passed", "expected failure")


def names():
    every = unittest.TestLoader().getTestCaseNames(Upstream)
    if not ARGUMENTS.tests:
        return every
    return [name for name in every if any(part in name for part in ARGUMENTS.tests)]


def main():
    if ARGUMENTS.list:
        print("\n".join(names()))
        return 0
    result = Lines()
    for name in names():
        Upstream(name).run(result)
    if ARGUMENTS.json:
        import json

        pathlib.Path(ARGUMENTS.json).write_text(json.dumps(result.outcomes, indent=1))
    counts = {word: sum(entry["outcome"] == word for entry in result.outcomes.values()) for word in ("passed", "FAILED", "skipped")}
    name = f"cohort as {ARGUMENTS.name}" if ARGUMENTS.name else ARGUMENTS.backend
    print(f"{name}, world of {ARGUMENTS.world}: {counts['passed']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
