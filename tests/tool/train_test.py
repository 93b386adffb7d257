"""`cohort train`: what the trainer is started with, whose output is passed on how, and how it ends.

The trainer is a small script here: COHORT_TRAINER names it."""

import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
LIMIT = 60  # seconds; only a broken tool reaches it

JOB = """[launch]
ranks = 2
[train]
epochs = 1
"""


class Trained(unittest.TestCase):
    """A folder with a job, and a script that takes the trainer's place."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.job = self.folder / "job.toml"
        self.job.write_text(JOB)

    def trainer(self, script):
        program = self.folder / "fake trainer"
        program.write_text("#!/bin/sh\n" + script + "\n")
        program.chmod(0o755)
        return {**os.environ, "COHORT_TRAINER": str(program)}

    def train(self, script, *options, job=None, **more):
        environment = {**self.trainer(script), **more.pop("env", {})}
        return subprocess.run([TOOL, "train", str(job or self.job), *options], capture_output=True, text=True,
                              timeout=LIMIT, env=environment, **more)

    def start(self, script, *options):
        job = subprocess.Popen([TOOL, "train", str(self.job), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=self.trainer(script), text=True)

        def clean_up():
            job.kill()
            job.wait(timeout=LIMIT)
            job.stdout.close()
            job.stderr.close()

        self.addCleanup(clean_up)
        return job

    def read_lines(self, job, wanted):
        text = b""
        while text.count(b"\n") < wanted:
            ready, _, _ = select.select([job.stdout], [], [], LIMIT)
            self.assertTrue(ready, f"only {text} came")
            letter = os.read(job.stdout.fileno(), 1)
            self.assertTrue(letter, f"it ended after {text}")
            text += letter
        return text.decode().splitlines()


class Given(Trained):
    WORDS = 'if [ $COHORT_RANK = 0 ]; then for word in "$@"; do echo "$word"; done; fi'

    def test_the_arguments(self):
        self.assertEqual(self.train(self.WORDS).stdout.splitlines(), [str(self.job)])
        result = self.train(self.WORDS, "--set", "train.seed=3", "--set", "train.directory=a b", "--json", "-v")
        self.assertEqual(result.stdout.splitlines(),
                         [str(self.job), "--set", "train.seed=3", "--set", "train.directory=a b", "--json", "-v"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_number_of_ranks(self):
        script = 'echo "$COHORT_RANK/$COHORT_WORLD"'
        self.assertEqual(sorted(self.train(script).stdout.splitlines()), ["0/2", "[1] 1/2"])
        self.assertEqual(sorted(self.train(script, "-n", "3").stdout.splitlines()), ["0/3", "[1] 1/3", "[2] 2/3"])
        self.assertEqual(self.train(script, "--set", "launch.ranks=1").stdout, "0/1\n")

    def test_all_share_a_rendezvous(self):
        lines = self.train('echo "at $COHORT_RENDEZVOUS"', "-n", "3").stdout.splitlines()
        self.assertEqual(len({line.split("at ")[1] for line in lines}), 1)

    def test_a_plan_takes_one_rank(self):
        result = self.train(self.WORDS, "-n", "5", "--dry-run")
        self.assertEqual(result.stdout.splitlines(), [str(self.job), "--dry-run", "--world", "5", "--host-ranks", "5"])
        result = self.train('echo "$COHORT_RANK/$COHORT_WORLD"', "-n", "5", "--dry-run")
        self.assertEqual(result.stdout, "0/1\n")

    def test_threads_and_how_they_wait(self):
        script = 'if [ $COHORT_RANK = 0 ]; then echo "$OMP_NUM_THREADS $OMP_WAIT_POLICY"; fi'
        cores = len(os.sched_getaffinity(0))
        clean = {"OMP_NUM_THREADS": "", "MKL_NUM_THREADS": "", "OPENBLAS_NUM_THREADS": ""}
        many = self.train(script, "-n", str(cores), "--threads", "3", env=clean)
        self.assertEqual(many.stdout, "3 PASSIVE\n")
        if cores > 1:
            self.assertEqual(self.train(script, "-n", "1", "--threads", "1", env=clean).stdout, "1 \n")
        self.assertEqual(self.train(script, "-n", "1", "--threads", str(cores), env=clean).stdout, f"{cores} PASSIVE\n")
        kept = self.train(script, "-n", str(cores), "--threads", "3", env={**clean, "OMP_WAIT_POLICY": "ACTIVE"})
        self.assertEqual(kept.stdout, "3 ACTIVE\n")

    def test_pinning(self):
        script = 'grep Cpus_allowed_list /proc/self/status | cut -f 2'
        cores = sorted(os.sched_getaffinity(0))
        result = self.train(script, "-n", str(len(cores)), "--pin")
        self.assertEqual(sorted(line.split()[-1] for line in result.stdout.splitlines()), sorted(str(core) for core in cores))


class Output(Trained):
    def test_rank_0_speaks_for_all(self):
        result = self.train('echo "out $COHORT_RANK"; echo "err $COHORT_RANK" >&2')
        self.assertEqual(sorted(result.stdout.splitlines()), ["[1] out 1", "out 0"])
        self.assertEqual(sorted(result.stderr.splitlines()), ["[1] err 1", "err 0"])

    def test_json_passes_untouched(self):
        script = """if [ $COHORT_RANK = 0 ]; then printf '{"steps": 3,\\n "loss": 0.5}\\n'; echo progress >&2; fi"""
        result = self.train(script, "--json")
        self.assertEqual(json.loads(result.stdout), {"steps": 3, "loss": 0.5})
        self.assertEqual(result.stderr, "progress\n")

    def on_terminal(self, script, *options, stream, columns=120, **environment):
        """The output on a terminal that is the standard output (1) or the standard error (2) of the tool."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        streams = {1: {"stdout": slave, "stderr": subprocess.PIPE}, 2: {"stdout": subprocess.PIPE, "stderr": slave}}[stream]
        job = subprocess.Popen([TOOL, "train", str(self.job), *options], **streams,
                               env={**self.trainer(script), "TERM": "xterm", **environment})
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 4096):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(master)
        job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 0)
        return text.decode()

    def test_a_terminal_is_told_to_the_trainer(self):
        script = 'if [ $COHORT_RANK = 0 ]; then shift; echo "$*" >&%d; fi'
        self.assertEqual(self.on_terminal(script % 1, stream=1), "--terminal 120\r\n")
        self.assertEqual(self.on_terminal(script % 2, "--json", stream=2, columns=33), "--json --terminal 33\r\n")
        self.assertEqual(self.on_terminal(script % 1, "--json", stream=1), "--json\r\n",
                         "progress goes to standard error, which is none")
        self.assertEqual(self.on_terminal(script % 1, stream=1, TERM="dumb"), "\r\n")

    def test_on_a_terminal_unfinished_lines_come_through(self):
        script = 'if [ $COHORT_RANK = 0 ]; then printf "\\rstep 1"; printf "\\rstep 2"; fi'
        self.assertEqual(self.on_terminal(script, stream=1), "\rstep 1\rstep 2")


class Failure(Trained):
    def test_exit_codes(self):
        for script, code in (("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)):
            self.assertEqual(self.train(script).returncode, code, script)

    def test_the_first_rank_that_fails_is_named(self):
        result = self.train("if [ $COHORT_RANK = 1 ]; then echo 'no room' >&2; exit 7; fi; sleep 1000")
        self.assertEqual(result.returncode, 7)
        self.assertIn("rank 1 failed first: it exited with 7", result.stderr)
        self.assertIn("    no room\n", result.stderr)

    def test_without_a_trainer(self):
        copy = self.folder / "cohort"
        shutil.copy(TOOL, copy)
        environment = {name: value for name, value in os.environ.items() if name != "COHORT_TRAINER"}
        result = subprocess.run([copy, "train", str(self.job)], capture_output=True, text=True, timeout=LIMIT, env=environment)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn(f"cannot start the trainer '{self.folder}/cohort-trainer'", result.stderr)
        self.assertIn("COHORT_TRAINER", result.stderr)

    def test_the_trainer_beside_the_tool_is_taken(self):
        copy = self.folder / "cohort"
        shutil.copy(TOOL, copy)
        beside = self.folder / "cohort-trainer"
        beside.write_text("#!/bin/sh\necho beside\n")
        beside.chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if name != "COHORT_TRAINER"}
        result = subprocess.run([copy, "train", str(self.job), "-n", "1"], capture_output=True, text=True, timeout=LIMIT,
                                env=environment)
        self.assertEqual((result.returncode, result.stdout), (0, "beside\n"))

    def test_mistakes_start_nothing(self):
        script = f"echo started > '{self.folder}/started'"
        cases = (("[train]\nepochs = ", [], "this is not valid TOML"),
                 ("[train]\nepoch = 1\n", [], "did you mean 'train.epochs'?"),
                 ("[data]\nkind = \"text\"\n", [], "requires data.path"),
                 ("", ["--set", "train.epochs=0"], "train.epochs = 0 is out of range"),
                 ("", ["-n", "0"], "--ranks"),
                 ("", ["--nosuch"], "has no option --nosuch"))
        for text, options, words in cases:
            self.job.write_text(text)
            result = self.train(script, *options)
            self.assertEqual((result.returncode, result.stdout), (2, ""), (text, options))
            self.assertIn(words, result.stderr)
        result = self.train(script, job=self.folder / "nowhere.toml")
        self.assertEqual(result.returncode, 2)
        self.assertFalse((self.folder / "started").exists())


class Interrupted(Trained):
    def test_ranks_end_with_what_they_reached(self):
        script = 'trap "echo saved; exit 0" INT; echo ready; while true; do sleep 0.05; done'
        job = self.start(script)
        self.assertEqual(sorted(self.read_lines(job, 2)), ["[1] ready", "ready"])
        job.send_signal(signal.SIGINT)
        output, error_output = job.communicate(timeout=LIMIT)
        self.assertEqual(sorted(output.splitlines()), ["[1] saved", "saved"])
        self.assertEqual(job.returncode, 130)
        self.assertIn("ended by SIGINT", error_output)

    def test_a_second_one_ends_it_at_once(self):
        job = self.start('trap "echo busy" INT; echo ready; while true; do sleep 0.05; done')
        self.read_lines(job, 2)
        job.send_signal(signal.SIGINT)
        self.read_lines(job, 2)  # all ranks got the signal, and none has ended
        job.send_signal(signal.SIGINT)
        _, error_output = job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 130)
        self.assertIn("SIGKILL", error_output)


if __name__ == "__main__":
    unittest.main()
