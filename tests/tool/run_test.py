"""`cohort run`: the environment of ranks, the destination of their output, and that no process is left at the end."""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
LIMIT = 60  # seconds; only a broken tool reaches it
SAY_PID = 'echo "pid $$"; '


def run(*arguments, **more):
    more.setdefault("timeout", LIMIT)
    return subprocess.run([TOOL, "run", *arguments], capture_output=True, text=True, **more)


def shell(ranks, script, *options, **more):
    return run("-n", str(ranks), *options, "sh", "-c", script, **more)


def start(test, *arguments):
    job = subprocess.Popen([TOOL, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def clean_up():
        job.kill()
        job.wait(timeout=LIMIT)
        job.stdout.close()
        job.stderr.close()

    test.addCleanup(clean_up)
    return job


def read_lines(process, wanted):
    """The next lines of standard output, as they arrive: the tool must not buffer them."""
    text = b""
    while text.count(b"\n") < wanted:
        ready, _, _ = select.select([process.stdout], [], [], LIMIT)
        assert ready, f"only {text} came"
        letter = os.read(process.stdout.fileno(), 1)  # one byte only: the rest is for communicate()
        assert letter, f"it ended after {text}"
        text += letter
    return text.decode().splitlines(keepends=True)


def pids(text):
    return [int(pid) for pid in re.findall(r"pid (\d+)", text)]


def state_and_group(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return "X", 0
    return fields[0], int(fields[2])


def runs(pid):
    return state_and_group(pid)[0] not in "ZX"


def living_groups():
    """The process groups with a running process. Zombies do not count: init may reap them late."""
    states = [state_and_group(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
    return {group for state, group in states if state not in "ZX"}


def wait_until_gone(pid):
    deadline = time.monotonic() + LIMIT
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not runs(pid)


class Given(unittest.TestCase):
    def test_each_rank_knows_its_place(self):
        script = ('echo "$COHORT_RANK $COHORT_WORLD $COHORT_LOCAL_RANK $COHORT_LOCAL_WORLD $COHORT_GENERATION '
                  '$COHORT_RENDEZVOUS"')
        for ranks in (1, 2, 5):
            result = shell(ranks, script)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            lines = sorted(result.stdout.splitlines())
            names = {line.split()[-1] for line in lines}
            self.assertEqual(len(names), 1, "all ranks share one rendezvous")
            name = names.pop()
            self.assertRegex(name, r"^unix:cohort-[0-9a-f]{32}$")
            self.assertEqual(lines, [f"[{r}] {r} {ranks} {r} {ranks} 0 {name}" for r in range(ranks)])
            self.assertNotIn(name, shell(1, script).stdout, "another job has another one")

    def test_threads(self):
        script = 'echo "$OMP_NUM_THREADS $MKL_NUM_THREADS $OPENBLAS_NUM_THREADS"'
        clean = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
        many = len(os.sched_getaffinity(0))
        self.assertEqual(shell(many, script, env=clean).stdout.count("] 1 1 1\n"), many)
        self.assertEqual(shell(1, script, "--threads", "3", env={**clean, "OMP_NUM_THREADS": "7"}).stdout, "[0] 3 3 3\n")
        self.assertEqual(shell(1, script, env={**clean, "OMP_NUM_THREADS": "7"}).stdout, "[0] 7  \n")
        self.assertEqual(shell(1, script, "--set", "launch.threads_per_rank=5", env=clean).stdout, "[0] 5 5 5\n")

    def test_limits_reach_every_program(self):
        script = 'echo "$COHORT_LIVENESS $COHORT_LIMIT"'
        clean = {k: v for k, v in os.environ.items() if k not in ("COHORT_LIVENESS", "COHORT_LIMIT")}
        self.assertEqual(shell(1, script, "--liveness", "3s", "--limit", "7s", env=clean).stdout, "[0] 3 s 7 s\n")
        self.assertEqual(shell(1, script, env={**clean, "COHORT_LIVENESS": "4s"}).stdout, "[0] 4s \n")

    def test_choices_of_the_job_win_over_the_environment(self):
        script = 'echo "$COHORT_ALGORITHM $COHORT_CHUNK $COHORT_WIRE $COHORT_SOCKETS"'
        around = {**os.environ, "COHORT_ALGORITHM": "ring", "COHORT_CHUNK": "64KiB", "COHORT_WIRE": "f16", "COHORT_SOCKETS": "2"}
        self.assertEqual(shell(1, script, env=around).stdout, "[0] ring 65536 f16 2\n")
        given = [word for key in ("algorithm", "chunk", "sockets") for word in ("--set", f"communication.{key}=auto")]
        self.assertEqual(shell(1, script, *given, env=around).stdout, "[0] auto auto f16 auto\n")

    def test_a_variable_that_nothing_reads_is_named(self):
        result = shell(1, "true", env={**os.environ, "COHORT_LIVELINESS": "3s"})
        self.assertEqual((result.returncode, result.stderr),
                         (0, "cohort: warning: nothing reads the environment variable COHORT_LIVELINESS\n"))

    def test_the_number_of_ranks_may_come_from_the_job(self):
        with tempfile.TemporaryDirectory() as folder:
            job = pathlib.Path(folder) / "job.toml"
            job.write_text("[launch]\nranks = 3\n")
            self.assertEqual(len(run("--job", str(job), "true").stdout.splitlines()), 0)
            self.assertEqual(len(run("--job", str(job), "echo").stdout.splitlines()), 3)
            self.assertEqual(len(run("--job", str(job), "-n", "2", "echo").stdout.splitlines()), 2)
        self.assertEqual(len(run("--set", "launch.ranks=4", "echo").stdout.splitlines()), 4)

    def test_arguments_pass_untouched(self):
        words = ["--json", "-n", "5", "--", "version", "[1,2]", "", "a b", "--help", "-h", "--no-prefix"]
        for before in ([], ["--"]):
            result = run("-n", "1", *before, "printf", "<%s>", *words)
            self.assertEqual(result.stdout, "[0] " + "".join(f"<{word}>" for word in words) + "\n")
        self.assertEqual(run("-n1", "echo", "-n", "x").stdout, "[0] x\n")
        self.assertEqual(run("--ranks=1", "echo", "run").stdout, "[0] run\n")

    def test_standard_input_is_empty(self):
        self.assertEqual(run("cat", input="something").stdout, "")

    def test_pinning_shares_the_cores_out(self):
        script = "grep Cpus_allowed_list /proc/self/status"
        cores = sorted(os.sched_getaffinity(0))
        for ranks in (1, len(cores), len(cores) + 1):
            lines = sorted(shell(ranks, script, "--pin").stdout.splitlines(), key=lambda line: int(line[1:line.index("]")]))
            lists = [line.split("\t")[-1] for line in lines]
            if ranks == 1:
                self.assertEqual(lists, [shell(1, script).stdout.strip().split("\t")[-1]])
            else:
                self.assertEqual(lists, [str(cores[rank % len(cores)]) for rank in range(ranks)])


class Output(unittest.TestCase):
    def test_streams_stay_apart(self):
        result = shell(2, 'echo "out $COHORT_RANK"; echo "err $COHORT_RANK" >&2')
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] out 0", "[1] out 1"])
        self.assertEqual(sorted(result.stderr.splitlines()), ["[0] err 0", "[1] err 1"])

    def test_lines_are_never_torn(self):
        script = 'i=0; while [ $i -lt 300 ]; do printf "$COHORT_RANK-"; printf "$COHORT_RANK\\n"; i=$((i+1)); done'
        lines = shell(4, script).stdout.splitlines()
        self.assertEqual(sorted(lines), sorted(f"[{r}] {r}-{r}" for r in range(4) for _ in range(300)))

    def test_long_lines_are_never_torn(self):
        length = 300_001
        program = f"import os,sys; r = os.environ['COHORT_RANK']; [print(r * {length}) for _ in range(5)]"
        lines = run("-n", "3", "python3", "-c", program).stdout.splitlines()
        self.assertEqual(sorted(lines), sorted(f"[{r}] " + str(r) * length for r in range(3) for _ in range(5)))

    def test_bytes_pass_as_they_are(self):
        program = "import os; os.write(1, bytes(range(256)) + b'\\nend')"
        command = [TOOL, "run", "python3", "-c", program]
        raw = bytes(range(256)) + b"\nend"
        self.assertEqual(subprocess.run(command, capture_output=True, timeout=LIMIT).stdout,
                         b"".join(b"[0] " + line + b"\n" for line in raw.split(b"\n")))
        command.insert(2, "--no-prefix")
        self.assertEqual(subprocess.run(command, capture_output=True, timeout=LIMIT).stdout, raw)

    def test_it_comes_while_the_ranks_run(self):
        job = start(self, "-n", "2", "sh", "-c", "echo ready; sleep 1000")
        self.assertEqual(sorted(read_lines(job, 2)), ["[0] ready\n", "[1] ready\n"])
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=LIMIT)

    def test_files_per_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "new" / "logs"
            result = shell(2, 'echo "out $COHORT_RANK"; printf "err $COHORT_RANK" >&2', "--output-dir", str(place))
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            texts = {path.name: path.read_text() for path in place.iterdir()}
            self.assertEqual(texts, {"rank-0.out": "out 0\n", "rank-0.err": "err 0",
                                     "rank-1.out": "out 1\n", "rank-1.err": "err 1"})
        self.assertEqual(run("--output-dir", "/dev/null/x", "true").returncode, 1)

    def test_colours_on_a_terminal_only(self):
        master, slave = pty.openpty()
        job = subprocess.Popen([TOOL, "run", "echo", "hi"], stdout=slave, env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        text = os.read(master, 1000)
        self.assertEqual(job.wait(timeout=LIMIT), 0)
        os.close(master)
        self.assertEqual(text, b"\033[36m[0]\033[0m hi\r\n")

    def test_a_reader_that_goes_ends_the_job(self):
        job = start(self, "-n", "2", "sh", "-c", SAY_PID + "while true; do echo more; done")
        ranks = pids("".join(read_lines(job, 100)))
        job.stdout.close()
        self.assertEqual(job.wait(timeout=LIMIT), 1)
        self.assertIn("the reader of its output is gone", job.stderr.read())
        self.assertTrue(ranks)
        self.assertEqual([pid for pid in ranks if runs(pid)], [])

    def test_a_full_disk_is_told_and_does_not_end_the_job(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([TOOL, "run", "sh", "-c", "echo a; echo b >&2; exit 0"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        self.assertEqual(result.returncode, 1)
        self.assertIn("[0] b\n", result.stderr)
        self.assertIn("output was lost", result.stderr)


class Failure(unittest.TestCase):
    def test_the_first_failing_rank_ends_the_rest(self):
        result = shell(3, SAY_PID + 'if [ $COHORT_RANK = 1 ]; then echo why >&2; exit 7; fi; sleep 1000')
        self.assertEqual(result.returncode, 7)
        self.assertIn("rank 1 failed first: it exited with 7\n", result.stderr)
        self.assertRegex(result.stderr, r"its last line of standard output:\n    pid \d+\n"
                                        r"cohort: its last line of standard error:\n    why\n")
        self.assertEqual([pid for pid in pids(result.stdout) if runs(pid)], [])

    def test_exit_codes(self):
        for script, code in (("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -9 $$", 137), ("kill -SEGV $$", 139)):
            self.assertEqual(shell(2, script).returncode, code, script)

    def test_the_reason_is_shown_whatever_is_flushed_to_standard_output_afterwards(self):
        # As a program whose standard output is buffered: the error comes first, then a kilobyte of earlier lines.
        result = shell(1, 'echo "the reason" >&2; i=0; while [ $i -lt 100 ]; do echo "line $i"; i=$((i+1)); done; printf unfinished; exit 1')
        closing = result.stderr.split("failed first", 1)[1]
        self.assertIn("its last line of standard error:\n    the reason\n", closing)
        self.assertIn("    line 99\n    unfinished\n", closing)

    def test_a_daemon_that_keeps_the_streams_open_does_not_hold_the_job_up(self):
        script = "setsid sh -c 'echo \"pid $$\"; echo > \"$FLAG\"; exec sleep 1000' & while [ ! -e \"$FLAG\" ]; do sleep 0.01; done; exit 0"
        with tempfile.TemporaryDirectory() as folder:
            result = shell(1, script, env={**os.environ, "FLAG": folder + "/flag"})
        (daemon,) = pids(result.stdout)
        self.addCleanup(os.kill, daemon, signal.SIGKILL)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(runs(daemon), "otherwise this test shows nothing")

    def test_only_the_last_lines_are_shown(self):
        result = shell(1, 'i=0; while [ $i -lt 100 ]; do echo "line $i"; i=$((i+1)); done; exit 1')
        shown = re.findall(r"^    line (\d+)$", result.stderr, re.M)
        self.assertEqual([int(number) for number in shown], list(range(80, 100)))
        self.assertEqual(len(result.stdout.splitlines()), 100)

    def test_ranks_that_ignore_sigterm_and_their_children_are_killed(self):
        script = ('trap "" TERM; ' + SAY_PID + '(trap "" TERM; sh -c \'echo "pid $$"; while true; do sleep 1; done\') & '
                  'if [ $COHORT_RANK = 1 ]; then sleep 0.3; exit 9; fi; while true; do sleep 1; done')
        result = shell(2, script, "--grace", "200ms")
        self.assertEqual(result.returncode, 9)
        self.assertIn("rank 0 was killed by signal 9 (SIGKILL)", result.stderr)
        found = pids(result.stdout)
        self.assertEqual(len(found), 4, result.stdout)
        self.assertEqual([pid for pid in found if not wait_until_gone(pid)], [])

    def test_a_child_of_a_rank_gets_the_grace_though_its_parent_is_gone(self):
        script = ('if [ $COHORT_RANK = 1 ]; then while [ ! -e "$FLAG" ]; do sleep 0.01; done; exit 5; fi; '
                  'sh -c \'trap "sleep 0.3; echo saved; exit" TERM; : > "$FLAG"; while true; do sleep 0.01; done\'; true')
        with tempfile.TemporaryDirectory() as folder:
            result = shell(2, script, env={**os.environ, "FLAG": folder + "/flag"})
        self.assertEqual(result.returncode, 5)
        self.assertIn("[0] saved\n", result.stdout)

    def test_children_of_a_rank_that_is_done_are_killed(self):
        result = shell(1, 'sleep 1000 & echo "pid $!"')
        self.assertEqual(result.returncode, 0)
        self.assertEqual([pid for pid in pids(result.stdout) if not wait_until_gone(pid)], [])

    def test_a_job_has_a_time_limit_if_asked(self):
        result = shell(2, SAY_PID + "sleep 1000", "--timeout", "300ms")
        self.assertEqual(result.returncode, 1)
        self.assertIn("time limit of the job has passed", result.stderr)
        self.assertEqual([pid for pid in pids(result.stdout) if runs(pid)], [])

    def test_mistakes_start_nothing(self):
        for arguments, words in ((["./nowhere"], "the program does not exist"), (["nowhere-to-be-found"], "the program does not exist"),
                                 (["/"], "no permission to execute"), ([], "no program to run"), (["-n", "0", "true"], "--ranks"),
                                 (["-n", "two", "true"], "--ranks"), (["--grace", "5", "true"], "--grace"),
                                 (["--nosuch", "true"], "has no option --nosuch"),
                                 (["--set", "launch.ranks=x", "true"], "launch.ranks")):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertIn(words, result.stderr)


class Signals(unittest.TestCase):
    SLEEPER = SAY_PID + "sleep 1000 & wait"

    def start_ranks(self, *options, script=None):
        job = start(self, "-n", "3", *options, "sh", "-c", script or self.SLEEPER)
        return job, pids("".join(read_lines(job, 3)))

    def test_each_ends_everything(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            job, ranks = self.start_ranks()
            groups = [os.getpgid(pid) for pid in ranks]
            self.assertEqual(groups, ranks, "each leads a group of its own")
            job.send_signal(number)
            _, error_output = job.communicate(timeout=LIMIT)
            self.assertEqual(job.returncode, code)
            self.assertIn(f"ended by {number.name}", error_output)
            self.assertEqual(living_groups() & set(groups), set())

    def test_sigint_arrives_as_such(self):
        script = 'trap "echo got INT; exit 0" INT; trap "echo got TERM; exit 0" TERM; ' + SAY_PID + \
                 "while true; do sleep 0.05; done"
        for number, word in ((signal.SIGINT, "INT"), (signal.SIGTERM, "TERM"), (signal.SIGHUP, "TERM")):
            job, _ = self.start_ranks(script=script)
            job.send_signal(number)
            output, _ = job.communicate(timeout=LIMIT)
            self.assertEqual(sorted(output.splitlines()), [f"[{rank}] got {word}" for rank in range(3)])

    def test_a_second_one_kills_at_once(self):
        script = 'trap "echo again" INT; ' + SAY_PID + "while true; do sleep 0.05; done"
        job, ranks = self.start_ranks("--grace", "1h", script=script)
        job.send_signal(signal.SIGINT)
        read_lines(job, 3)  # all ranks got the signal, and none has ended
        job.send_signal(signal.SIGINT)
        _, error_output = job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 130)
        self.assertIn("ranks 0, 1, 2 were killed by signal 9 (SIGKILL)", error_output)
        self.assertEqual([pid for pid in ranks if runs(pid)], [])

    def test_a_stopped_rank_is_ended_too(self):
        job, ranks = self.start_ranks()
        os.kill(ranks[1], signal.SIGSTOP)
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 143)
        self.assertEqual([pid for pid in ranks if runs(pid)], [])

    def test_a_reader_that_does_not_read_cannot_hold_it(self):
        job = start(self, "-n", "2", "--grace", "200ms", "sh", "-c", SAY_PID + "while true; do echo more; done")
        ranks = pids("".join(read_lines(job, 100)))
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(timeout=LIMIT), 130)
        self.assertEqual([pid for pid in ranks if runs(pid)], [])

    def test_ranks_die_with_a_launcher_that_is_killed(self):
        job, ranks = self.start_ranks(script=SAY_PID + "exec sleep 1000")
        job.kill()
        job.wait(timeout=LIMIT)
        self.assertEqual([pid for pid in ranks if not wait_until_gone(pid)], [])

    def test_what_was_ignored_stays_ignored(self):
        job = subprocess.Popen(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", TOOL, "run", "-n", "1", "sh", "-c",
                                "echo ready; sleep 1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        read_lines(job, 1)
        job.send_signal(signal.SIGHUP)
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 143)


if __name__ == "__main__":
    unittest.main()
