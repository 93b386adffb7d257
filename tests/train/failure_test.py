"""How `cohort train` fails: one message that names the file or key and the remedy, no process left, no file half-written.

Exit codes are those of docs/reference/exit-codes.md."""

import contextlib
import gzip
import json
import os
import signal
import subprocess
import time
import unittest

from train_job import LIMIT, TOOL, TrainJob, cpu_seconds, is_alive, ranks_of, tensors_of, write_idx

FAILED, USAGE, DIVERGED = 1, 2, 3

MLP = {"data": {"kind": "spirals", "classes": 3, "samples": 101, "test_samples": 17},
       "model": {"kind": "mlp", "hidden": [13]},
       "train": {"batch_size": 24, "epochs": 2}}
ENDLESS = {**MLP, "train": {"batch_size": 24, "epochs": 10**9, "evaluate_every": 100}}

FINAL_NAMES = {"best.safetensors", "last.safetensors", "steps.jsonl"}


class Failing(TrainJob):
    def names_in(self, directory=None):
        directory = directory or self.directory
        return {path.name for path in directory.iterdir()} if directory.exists() else set()

    def assert_nothing_half_written(self, directory=None):
        """No temporary file is left, and every file with a final name can be read."""
        directory = directory or self.directory
        files = [path for path in directory.rglob("*") if path.is_file()]
        self.assertLessEqual({path.name for path in files}, FINAL_NAMES)
        for path in files:
            if path.name == "steps.jsonl":
                continue
            tensors, _ = tensors_of(path)
            self.assertEqual(sum(len(numbers) for numbers in tensors.values()), 2 * 13 + 13 + 13 * 3 + 3)

    def fails(self, sections, code, *words, ranks=2, **more):
        """Runs a job that must fail and returns its error output, which must contain the words."""
        result = self.run_job(sections, "--json", ranks=ranks, **more)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "", "a failure has no closing object")
        for word in words:
            self.assertIn(word, result.stderr)
        self.assert_nothing_half_written()
        return result.stderr


class Mistakes(Failing):
    """Mistakes in the job file."""

    def test_weights_of_another_model(self):
        self.train({**MLP, "model": {"kind": "mlp", "hidden": [11]}}, ranks=1)
        file = self.directory / "last.safetensors"
        self.fails({**MLP, "model": {**MLP["model"], "initial": str(file)}}, USAGE,
                  f"the weights in '{file}' do not fit the model", "'layers.0.weight' has shape [11, 2]", "[13, 2]")
        self.fails({**MLP, "model": {"kind": "softmax", "initial": str(file)}}, USAGE, "do not fit the model")
        self.fails({**MLP, "model": {"kind": "mlp", "hidden": [11, 11], "initial": str(file)}}, USAGE,
                  "do not fit the model")

    def test_a_file_that_holds_no_weights(self):
        file = self.folder / "no.safetensors"
        for content in (b"", b"short", b"\x10" + bytes(7) + b"{no header here}", b"\xff" * 64):
            file.write_bytes(content)
            self.fails({**MLP, "model": {**MLP["model"], "initial": str(file)}}, FAILED, str(file), ranks=1)

    def test_a_loss_that_is_not_a_number(self):
        wild = {**MLP, "data": {"kind": "regression", "samples": 101}, "model": {"kind": "linear"},
                "optimizer": {"name": "sgd", "momentum": 0.0, "learning_rate": 1000.0},
                "train": {"batch_size": 24, "epochs": 100, "evaluate_every": 0}}
        result = self.run_job(wild, "--json")
        self.assertEqual((result.returncode, result.stdout), (DIVERGED, ""), result.stderr)
        self.assertRegex(result.stderr, r"the loss is (inf|-?nan) on rank \d, step \d+, micro-batch \d")
        self.assertIn("Lower optimizer.learning_rate, clip gradients with optimizer.clip_grad_norm", result.stderr)
        self.assertNotIn("Options::", result.stderr)
        self.assertLessEqual(self.names_in(), {"steps.jsonl"})

    def test_parameters_that_are_no_numbers_are_not_called_the_best(self):
        wild = {"data": {"kind": "regression", "samples": 101, "test_samples": 11}, "model": {"kind": "linear"},
                "optimizer": {"name": "sgd", "momentum": 0.0, "learning_rate": 1000.0}, "train": {"batch_size": 24, "epochs": 100}}
        self.run_job(wild, "--json")
        for name in self.names_in() & {"best.safetensors"}:
            tensors, _ = tensors_of(self.directory / name)
            for numbers in tensors.values():
                self.assertTrue(all(number == number for number in numbers), name)

    def test_statistics_of_a_single_value(self):
        """One sample of one pixel has no variance: an error, not a trained model that answers with NaN."""
        sections = {"data": {"kind": "digits", "image_size": 8, "samples": 4, "test_samples": 3},
                    "model": {"kind": "resnet18"}, "train": {"batch_size": 2, "epochs": 1}}
        result = self.run_job(sections, "--json")
        for name in self.names_in() - {"steps.jsonl"}:
            tensors, _ = tensors_of(self.directory / name)
            bad = [key for key, numbers in tensors.items() if any(number != number for number in numbers)]
            self.assertEqual(bad, [], name)
        if result.returncode == 0:
            self.assertIsNotNone(json.loads(result.stdout)["metrics"]["test loss"])

    def test_bad_steps_can_be_skipped(self):
        seen = self.train({**MLP, "data": {"kind": "regression", "samples": 101}, "model": {"kind": "linear"},
                           "optimizer": {"name": "sgd", "momentum": 0.0, "learning_rate": 1000.0, "skip_non_finite": True},
                           "train": {"batch_size": 24, "epochs": 20, "evaluate_every": 0}})
        skipped = sum(line["skipped"] for line in self.steps())
        self.assertEqual(seen["skipped_steps"], skipped)
        self.assertGreater(skipped, 0)
        self.assertEqual(seen["steps"], 100)

    def test_slots_and_ranks(self):
        self.fails({**MLP, "train": {**MLP["train"], "micro_batches": 2}}, USAGE, "2 micro-batches are too few for 3 ranks", "train.micro_batches",
                   ranks=3)
        self.fails({**MLP, "train": {**MLP["train"], "micro_batches": 8, "deterministic": "any-world"}}, USAGE, "power of two",
                  ranks=3)

    def test_groups(self):
        for group, words in (("*.bais: frozen", "bais"), ("*.bias: learning_rat=1", "learning_rate"), ("*.bias", "*.bias"),
                             ("*: frozen", "no parameter to train")):
            self.fails({**MLP, "optimizer": {"groups": [group]}}, USAGE, words, ranks=1)

    def test_a_mistake_leaves_no_directory(self):
        self.fails({**MLP, "train": {**MLP["train"], "micro_batches": 1}}, USAGE, "too few")
        self.assertFalse(self.directory.exists())


class Files(Failing):
    """Data that is missing or broken."""

    def csv(self, text):
        path = self.folder / "data.csv"
        path.write_text(text)
        return {"data": {"kind": "csv", "path": str(path), "test_share": 0.0}, "model": {"kind": "mlp", "hidden": [13]},
                "train": {"batch_size": 2, "epochs": 1}}

    def images(self, ending=""):
        folder = self.folder / "images"
        folder.mkdir(exist_ok=True)
        images = folder / f"train-images-idx3-ubyte{ending}"
        write_idx(images, [9, 8, 8], bytes(range(64)) * 9)
        write_idx(folder / f"train-labels-idx1-ubyte{ending}", [9], [i % 3 for i in range(9)])
        sections = {"data": {"kind": "idx", "path": str(folder)}, "model": {"kind": "softmax"},
                    "train": {"batch_size": 4, "epochs": 1}}
        return sections, images

    def test_a_missing_file(self):
        for kind in ("csv", "text", "idx"):
            path = self.folder / "nowhere" / "data"
            model = {"kind": "gpt", "width": 8, "heads": 2} if kind == "text" else {"kind": "softmax"}
            self.fails({"data": {"kind": kind, "path": str(path)}, "model": model}, FAILED, str(path))

    def test_a_row_that_cannot_be_read(self):
        for rows, words in (("1,2,3\n4,x,6\n", "line 3, column 2 ('b'): 'x' is not a number"),
                            ("1,2,3\n4,5\n", "line 3: 2 cells, where the header has 3"),
                            ('1,2,3\n"4,5,6\n', "line 3"), ("1,2,3\n4,,6\n", "line 3")):
            self.fails(self.csv("a,b,c\n" + rows), FAILED, "data.csv", words)

    def test_numbers_that_are_none(self):
        for text in ("nan", "inf", "1e999"):
            self.fails(self.csv(f"a,b,c\n1,2,3\n4,{text},6\n"), FAILED, "data.csv", "line 3", ranks=1)

    def test_a_target_that_may_be_classes_or_numbers(self):
        job = self.csv("a,b,c\n1,2,3\n4,5,6\n")
        self.fails(job, USAGE, "whole numbers from 3 to 6", 'Set data.target = "class"')
        self.fails({**job, "data": {**job["data"], "target": "class"}, "model": {"kind": "linear"}}, USAGE, "model.kind")
        self.train({**job, "data": {**job["data"], "target": "number"}, "model": {"kind": "linear"}})

    def test_a_relative_path_is_shown_whole(self):
        job = {**self.csv(""), "data": {"kind": "csv", "path": "no/where.csv"}}
        self.fails(job, FAILED, f"'{self.folder}/no/where.csv'")

    def test_nothing_to_learn_from(self):
        for text in ("", "a,b,c\n"):
            result = self.run_job(self.csv(text), ranks=2)
            self.assertIn(result.returncode, (FAILED, USAGE), result.stderr)
            self.assertIn("data.csv", result.stderr)

    def test_images_that_are_cut_off(self):
        sections, images = self.images()
        whole = images.read_bytes()
        for size in (0, 3, 15, len(whole) - 1):
            images.write_bytes(whole[:size])
            self.fails(sections, FAILED, images.name, ranks=1)
        images.write_bytes(whole[:3] + b"\x07" + whole[4:])
        self.fails(sections, FAILED, images.name, ranks=1)
        images.write_bytes(whole[:4] + b"\x7f\xff\xff\xff" * 3 + whole[16:])
        self.fails(sections, FAILED, images.name, ranks=1)

    def test_broken_gzip(self):
        sections, images = self.images(".gz")
        whole = images.read_bytes()
        for content in (whole[:-9], whole[:len(whole) // 2], whole[:-8] + bytes(8), b"\x1f\x8b" + bytes(30),
                        gzip.compress(b"not images")):
            images.write_bytes(content)
            self.fails(sections, FAILED, images.name, ranks=1)

    def test_more_labels_than_images(self):
        sections, images = self.images()
        write_idx(images.with_name("train-labels-idx1-ubyte"), [10], [0] * 10)
        result = self.run_job(sections)
        self.assertIn(result.returncode, (FAILED, USAGE))
        self.assertIn("labels", result.stderr)


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True,
                             timeout=LIMIT)
    if mounted.returncode:
        raise unittest.SkipTest("a small disk takes the right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, timeout=LIMIT)


class Directories(Failing):
    """Directories for models and logs that cannot be written."""

    def test_a_file_in_the_way(self):
        (self.folder / "file").write_text("in the way")
        directory = self.folder / "file" / "run"
        error_output = self.fails({**MLP, "train": {**MLP["train"], "directory": str(directory)}}, FAILED, str(directory),
                                 "train.directory")
        self.assertIn("rank 0 failed first", error_output)
        self.assertNotIn("did not reach every rank", error_output, "other ranks do not report consequences of the first failure")

    def test_a_relative_directory_is_shown_whole(self):
        (self.folder / "file").write_text("in the way")
        self.fails({**MLP, "train": {**MLP["train"], "directory": "file/run"}}, FAILED, f"'{self.folder}/file/run'",
                   ranks=1, cwd=self.folder)

    @unittest.skipIf(os.geteuid() == 0, "nothing is forbidden to root")
    def test_a_directory_that_cannot_be_written(self):
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        self.fails({**MLP, "train": {**MLP["train"], "directory": str(locked / "run")}}, FAILED, str(locked))

    def test_a_full_disk(self):
        with small_disk(self.folder / "disk", 64 * 1024) as disk:
            (disk / "filler").write_bytes(bytes(48 * 1024))
            big = {**MLP, "model": {"kind": "mlp", "hidden": [3000]},
                   "train": {**MLP["train"], "directory": str(disk / "run")}}
            result = self.run_job(big, "--json")
            self.assertEqual((result.returncode, result.stdout), (FAILED, ""), result.stderr)
            self.assertIn(str(disk / "run" / "best.safetensors"), result.stderr)
            self.assertIn("no space left", result.stderr)
            self.assertIn("rank 0 failed first", result.stderr)
            self.assertLessEqual(self.names_in(disk / "run"), {"steps.jsonl"})

    def test_a_disk_that_is_full_of_steps(self):
        """The log ends with one message and training continues: training is worth more than its log."""
        with small_disk(self.folder / "disk", 32 * 1024) as disk:
            seen = self.run_job({**MLP, "train": {"batch_size": 1, "epochs": 4, "directory": str(disk / "run")}}, "--json")
            said = [line for line in seen.stderr.splitlines() if "steps.jsonl" in line and not line.startswith("    ")]
            self.assertEqual(len(said), 1, seen.stderr)
            self.assertIn("train.directory", said[0])
            self.assertLessEqual(self.names_in(disk / "run"), FINAL_NAMES)

    def test_output_that_goes_nowhere(self):
        with open("/dev/full", "w") as full:
            result = self.run_job(MLP, "--json", stdout=full)
        self.assertEqual(result.returncode, FAILED, result.stderr)
        self.assertIn("standard output", result.stderr)

    def test_without_standard_input(self):
        with subprocess.Popen(["sh", "-c", 'exec "$@" <&-', "sh", *self.words(MLP, "--json")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as job:
            output, error_output = job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 0, error_output)
        self.assertIn("parameters_hash", output)

    def test_the_trainer_alone_says_how_it_is_started(self):
        trainer = TOOL.parent / "cohort-trainer"
        result = subprocess.run([trainer, str(self.folder / "nowhere.toml")], capture_output=True, text=True, timeout=LIMIT)
        self.assertIn(result.returncode, (FAILED, USAGE))
        self.assertIn("nowhere.toml", result.stderr)


class SlowDisk(Failing):
    """Slowness is no failure: the ranks wait for the rank that writes for as long as it is alive."""

    LIBRARY = """
        #include <sys/syscall.h>
        #include <unistd.h>
        int fsync(int file) { usleep(700 * 1000); return (int)syscall(SYS_fsync, file); }
    """

    def test_writing_takes_longer_than_a_call_may(self):
        source, library = self.folder / "slow.c", self.folder / "slow.so"
        source.write_text(self.LIBRARY)
        subprocess.run(["clang-14", "-shared", "-fPIC", "-o", library, source], check=True)
        job = {**MLP, "launch": {"wait_limit": "400 ms"}}
        started = time.monotonic()
        report = self.train(job, env={**os.environ, "LD_PRELOAD": str(library)})
        self.assertGreater(time.monotonic() - started, 1.4, "the disk was not slow")
        self.assertEqual(report["steps"], 10)
        self.assert_nothing_half_written()


class Once(Failing):
    """An error that all ranks detect is printed once, not by each rank."""

    def assert_said_once(self, text, error_output):
        # Indented lines are the tool's quote from the rank that failed; they do not count.
        lines = [line for line in error_output.splitlines() if text in line and not line.startswith("    ")]
        self.assertEqual(len(lines), 1, error_output)

    def test_a_mistake(self):
        self.assert_said_once("too few", self.fails({**MLP, "train": {**MLP["train"], "micro_batches": 2}}, USAGE, ranks=3))

    def test_a_missing_file(self):
        data = {"kind": "csv", "path": str(self.folder / "nowhere.csv")}
        self.assert_said_once("nowhere.csv", self.fails({**MLP, "data": data}, FAILED, ranks=3))

    def test_a_loss_that_is_not_a_number(self):
        wild = {"data": {"kind": "regression", "samples": 101}, "model": {"kind": "linear"},
                "optimizer": {"name": "sgd", "momentum": 0.0, "learning_rate": 1000.0},
                "train": {"batch_size": 24, "epochs": 100, "evaluate_every": 0}}
        result = self.run_job(wild, ranks=3)
        self.assert_said_once("the loss is", result.stderr)
        self.assertEqual(result.returncode, DIVERGED, result.stderr)


class Together(Failing):
    def test_two_jobs_in_one_directory(self):
        """Either the jobs do not disturb each other, or one is refused with the name of the directory."""
        directory = self.folder / "shared"
        sections = {**MLP, "train": {"batch_size": 24, "epochs": 60, "directory": str(directory)}}
        jobs = [self.start(sections, "--json", ranks=1) for _ in range(2)]
        ends = [self.end_of(job) for job in jobs]
        self.assertIn(0, [code for code, _, _ in ends], ends)
        for code, _, error_output in ends:
            if code:
                self.assertIn("train.directory", error_output)
                self.assertNotIn(".tmp", error_output)
        self.assert_nothing_half_written(directory)
        self.assertEqual([line["step"] for line in self.steps(directory)], list(range(1, 301)))

    def test_models_of_an_earlier_run_do_not_stay(self):
        """A best model of an earlier run could be mistaken for one of this run."""
        directory = self.folder / "again"
        sections = {**MLP, "train": {**MLP["train"], "directory": str(directory)}}
        self.train(sections, ranks=1)
        seen = self.train({**sections, "data": {**MLP["data"], "test_samples": 0}}, ranks=1)
        self.assertIsNone(seen["best_loss"])
        self.assertNotIn("best.safetensors", self.names_in(directory))


class Ranks(Failing):
    """A rank that dies or freezes while others train."""

    def lose(self, rank, number, *options, ranks=3):
        job = self.start(ENDLESS, "--json", *options, ranks=ranks)
        self.wait_for_steps(job)
        pids = ranks_of(job)
        self.assertEqual(sorted(pids), list(range(ranks)))
        os.kill(pids[rank], number)
        code, output, error_output = self.end_of(job)
        self.assertEqual(output, "")
        self.assertFalse([pid for pid in pids.values() if is_alive(pid)])
        self.assert_nothing_half_written()
        return code, error_output

    def test_killed(self):
        for rank in (0, 1):
            code, error_output = self.lose(rank, signal.SIGKILL)
            self.assertEqual(code, 128 + signal.SIGKILL, error_output)
            self.assertIn(f"rank {rank} failed first: it was killed by signal 9 (SIGKILL)", error_output)

    def test_crashed(self):
        code, error_output = self.lose(1, signal.SIGSEGV)
        self.assertEqual(code, 128 + signal.SIGSEGV, error_output)
        self.assertIn("rank 1 failed first", error_output)

    def test_stopped(self):
        code, error_output = self.lose(1, signal.SIGSTOP, "--liveness", "500ms")
        self.assertEqual(code, FAILED, error_output)
        self.assertRegex(error_output, r"rank 1 \(process \d+\) has shown no sign of life")
        self.assertIn("rank 1 had been stopped by a signal", error_output)
        self.assertNotIn("failed first", error_output)

    def test_paused(self):
        """A pause is reported, and ends nothing."""
        job = self.start(ENDLESS, "--json", ranks=2)
        self.wait_for_steps(job)
        log = self.directory / "steps.jsonl"
        rank = ranks_of(job)[1]
        os.kill(rank, signal.SIGSTOP)
        time.sleep(2)
        os.kill(rank, signal.SIGCONT)
        before = log.stat().st_size
        self.wait_for(lambda: log.stat().st_size > before + 10000, "steps after the pause")
        job.send_signal(signal.SIGINT)
        code, _, error_output = self.end_of(job)
        self.assertEqual(code, 128 + signal.SIGINT, error_output)
        self.assertRegex(error_output, rf"rank 1 \(process {rank}\) has shown no sign of life for 500 ms, "
                                       r"while rank 0: \w+.* of group '.*' \(generation 0\) waits: it is stopped")

    def test_paused_together(self):
        """As a laptop that is suspended: all ranks are stopped for longer than the limit, and go on."""
        job = self.start(ENDLESS, "--json", "--liveness", "1s", ranks=2)
        self.wait_for_steps(job)
        log = self.directory / "steps.jsonl"
        for number, pause in ((signal.SIGSTOP, 2), (signal.SIGCONT, 0)):
            for rank in ranks_of(job).values():
                os.kill(rank, number)
            time.sleep(pause)
        before = log.stat().st_size
        self.wait_for(lambda: log.stat().st_size > before + 10000 or job.poll() is not None, "steps after the pause")
        job.send_signal(signal.SIGINT)
        code, _, error_output = self.end_of(job)
        self.assertEqual(code, 128 + signal.SIGINT, error_output)

    def test_the_tool_killed(self):
        job = self.start(ENDLESS, ranks=3)
        self.wait_for_steps(job)
        pids = ranks_of(job)
        self.assertEqual(len(pids), 3)
        job.kill()
        self.wait_for(lambda: not any(is_alive(pid) for pid in pids.values()), "the end of all ranks")


class Signals(Failing):
    def interrupt(self, number, ranks=2):
        job = self.start(ENDLESS, "--json", ranks=ranks)
        self.wait_for_steps(job)
        pids = ranks_of(job)
        job.send_signal(number)
        code, output, error_output = self.end_of(job)
        self.assertEqual(code, 128 + number, error_output)
        self.assertFalse([pid for pid in pids.values() if is_alive(pid)])
        return output, error_output

    def test_the_reached_is_kept(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            output, error_output = self.interrupt(number)
            seen = json.loads(output)
            self.assertEqual(seen["ended"], "interrupted")
            self.assertIn(f"ended by {number.name}", error_output)
            _, facts = tensors_of(self.directory / "last.safetensors")
            self.assertEqual(facts["step"], str(seen["steps"]))
            self.assertEqual(len(self.steps()), seen["steps"])
            self.assert_nothing_half_written()

    def test_before_the_first_step(self):
        """However early the signal comes, it ends the job with the exit code of an interrupt."""
        job = self.start(ENDLESS, ranks=2)
        pids = self.wait_for(lambda: len(found := ranks_of(job)) == 2 and found, "the start of the ranks")
        job.send_signal(signal.SIGINT)
        code, _, error_output = self.end_of(job)
        self.assertEqual(code, 128 + signal.SIGINT, error_output)
        self.assertFalse([pid for pid in pids.values() if is_alive(pid)])
        self.assert_nothing_half_written()

    def test_in_an_evaluation(self):
        """An evaluation can be long; interrupting it keeps the model that was trained before."""
        job = self.start({**MLP, "data": {**MLP["data"], "test_samples": 10**9}}, "--json", ranks=2)
        first = self.wait_for(lambda: ranks_of(job).get(0), "the start of rank 0")
        self.wait_for((self.directory / "steps.jsonl").exists, "the opening of the log")
        # The ten steps take far less than a second: after it rank 0 is evaluating.
        start = cpu_seconds(first)
        self.wait_for(lambda: cpu_seconds(first) > start + 1, "a second of work")
        job.send_signal(signal.SIGINT)
        code, output, error_output = self.end_of(job)
        self.assertEqual(code, 128 + signal.SIGINT, error_output)
        self.assertIn("last.safetensors", self.names_in(), error_output)
        self.assertIn('"ended": "interrupted"', output)

    def test_to_one_rank_it_is_an_interruption_too(self):
        job = self.start(ENDLESS, "--json", ranks=2)
        self.wait_for_steps(job)
        os.kill(ranks_of(job)[1], signal.SIGTERM)
        code, output, error_output = self.end_of(job)
        self.assertIn('"ended": "interrupted"', output)
        self.assertNotEqual(code, 0, "the job was interrupted before its end")


if __name__ == "__main__":
    unittest.main()
