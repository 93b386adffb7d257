"""`cohort train` as its user sees it: its output, its files, and that the same job gives the same bits."""

import copy
import json
import math
import os
import random
import re
import subprocess
import unittest

from train_job import LIMIT, ROOT, TOOL, TrainJob, tensors_of, write_idx

MLP = {"data": {"kind": "spirals", "classes": 3, "samples": 101, "test_samples": 17},
       "model": {"kind": "mlp", "hidden": [13, 7]},
       "train": {"batch_size": 24, "epochs": 2}}

# For each model, a job whose number of samples is a multiple of neither the micro-batches nor the ranks.
ANY_WORLD = {
    "mlp": {**MLP, "model": {"kind": "mlp", "hidden": [13, 7], "dropout": 0.25}},
    "lenet": {"data": {"kind": "digits", "image_size": 12, "samples": 37, "test_samples": 5},
              "model": {"kind": "lenet", "channels_last": True, "dropout": 0.25}, "train": {"batch_size": 19, "epochs": 1}},
    "gpt": {"data": {"kind": "markov", "classes": 7, "context": 9, "samples": 37, "test_samples": 5},
            "model": {"kind": "gpt", "layers": 2, "width": 12, "heads": 3, "dropout": 0.25},
            "train": {"batch_size": 19, "epochs": 1}},
    "resnet18": {"data": {"kind": "digits", "image_size": 32, "samples": 11, "test_samples": 1},
                 "model": {"kind": "resnet18"}, "train": {"batch_size": 9, "epochs": 1}},
}


def changed(sections, **changes):
    """The sections with other keys: changed(MLP, train={"batch_size": 1})."""
    result = copy.deepcopy(sections)
    for section, keys in changes.items():
        result.setdefault(section, {}).update(keys)
    return result


class Report(TrainJob):
    def test_the_closing_object(self):
        for ranks in (1, 2, 3, 4):
            seen = self.train(MLP, ranks=ranks)
            self.assertEqual((seen["steps"], seen["samples"], seen["ranks"], seen["epochs"]), (10, 202, ranks, 2))
            self.assertRegex(seen["parameters_hash"], "^[0-9a-f]{16}$")
            self.assertEqual(seen["run_directory"], str(self.directory))
            self.assertGreater(seen["samples_per_second"], 0)
            self.assertTrue(math.isfinite(seen["loss"]))
            self.assertEqual(set(seen["metrics"]), {"test loss", "accuracy"})
            self.assertEqual(seen["ended"], "done")

    def test_a_line_for_every_step(self):
        seen = self.train(changed(MLP, optimizer={"clip_grad_norm": 100.0}), ranks=3)
        lines = self.steps()
        self.assertEqual([line["step"] for line in lines], list(range(1, 11)))
        self.assertEqual([line["epoch"] for line in lines], [1] * 5 + [2] * 5)
        self.assertEqual([line["samples"] for line in lines], [24, 24, 24, 24, 5] * 2)
        self.assertEqual(sum(line["samples"] for line in lines), seen["samples"])
        self.assertTrue(all(line["gradient_norm"] > 0 and not line["skipped"] for line in lines))

    def test_the_table(self):
        result = self.run_job(MLP, "-v")
        self.assertEqual(result.returncode, 0, result.stderr)
        for word in ("steps", "loss", "accuracy", "samples/s on 2 ranks", str(self.directory)):
            self.assertIn(word, result.stdout)
        for rank in (0, 1):
            self.assertRegex(result.stderr, rf"rank {rank}: 1 compute thread; the allocator \w+")
        self.assertRegex(result.stdout, r"epoch 2/2  step 10/10  loss [\d.]+  test loss [\d.]+")

    def test_the_plan(self):
        sections = changed(MLP, train={"micro_batches": 5, "bucket_bytes": 1024})
        plan = json.loads(self.run_job(sections, "--dry-run", "--json", ranks=2).stdout)
        self.assertFalse(self.directory.exists(), "a plan writes nothing")
        self.assertEqual(plan["slots_of_rank"], [[0, 1], [2, 3, 4]])
        self.assertEqual((plan["steps"], plan["steps_per_epoch"], plan["ranks"]), (10, 5, 2))
        self.assertEqual(plan["parameters"], 2 * 13 + 13 + 13 * 7 + 7 + 7 * 3 + 3)
        self.assertEqual(sum(bucket["tensors"] for bucket in plan["buckets"]), 6)
        self.assertGreaterEqual(sum(bucket["bytes"] for bucket in plan["buckets"]), 4 * plan["parameters"])
        self.assertEqual([program["rank"] for program in plan["programs"]], [0, 1])
        self.assertEqual(plan["programs"][1]["actions"][:2],
                         [{"verb": "load", "lane": 0, "micro_batch": 2}, {"verb": "forward", "lane": 0, "micro_batch": 2}])
        self.assertEqual(sum(action["verb"] == "vote" for action in plan["programs"][0]["actions"]), 1)
        self.assertEqual(plan["memory_bytes"], sum(part["bytes"] for part in plan["memory"]))
        text = self.run_job(sections, "--dry-run", ranks=2).stdout
        for word in ("slots", "bucket", "action", "memory", "exchanged"):
            self.assertIn(word, text)


    def test_the_plan_of_several_hosts(self):
        """Each rank has its own copy of the parameters, and two buckets are in flight at once."""
        sections = changed(MLP, train={"bucket_bytes": 1024})
        plan = json.loads(self.run_job(sections, "--dry-run", "--json", "--hosts", "a:1,b:1").stdout)
        actions = plan["programs"][1]["actions"]
        buckets = range(len(plan["buckets"]))
        self.assertGreater(len(buckets), 1)
        for verb in ("apply", "gather"):
            self.assertEqual([(action["bucket"], action["lane"]) for action in actions if action["verb"] == verb],
                             [(bucket, 1 + bucket % 2) for bucket in buckets])
        self.assertEqual(plan["memory"][0]["what"], "parameters")


class Trace(TrainJob):
    """Times of actions and calls, in the file that trace.file names."""

    def traced(self, sections, *options, **more):
        file = self.folder / "trace.json"
        self.train(sections, "--set", f"trace.file={file}", *options, **more)
        return json.loads(file.read_text())

    def test_it_is_the_plan_with_times(self):
        buckets = {"train": {"micro_batches": 5, "bucket_bytes": 1024, "steps": 3}}
        for more in ({}, {"optimizer": {"clip_grad_norm": 1.0}}, {"train": {"deterministic": "any-world", "micro_batches": 4}}):
            sections = changed(changed(MLP, **buckets), **more)
            plan = json.loads(self.run_job(sections, "--dry-run", "--json", ranks=2).stdout)
            trace = self.traced(sections, ranks=2)
            self.assertEqual([(each["rank"], each["step"]) for each in trace["programs"]], [(rank, step) for rank in (0, 1) for step in range(3)])
            for program in trace["programs"]:
                times = [(action.pop("begin_s"), action.pop("end_s")) for action in program["actions"]]
                self.assertTrue(all(begin <= end for begin, end in times), times)
                if program["step"] == 0:  # later steps have the buckets in the order in which gradients arrived
                    self.assertEqual(program["actions"], plan["programs"][program["rank"]]["actions"])

    def test_calls(self):
        trace = self.traced(changed(MLP, train={"steps": 2}), ranks=2)
        for rank in (0, 1):
            calls = [call for call in trace["calls"] if call["rank"] == rank]
            self.assertEqual(sum(call["operation"] == "reduce_scatter" for call in calls), 2, "one bucket, two steps")
            self.assertTrue(all(call["begin_s"] <= call["end_s"] for call in calls))

    def test_the_newest_steps_are_kept(self):
        trace = self.traced(changed(MLP, train={"steps": 8}), "--set", "trace.capacity=10")
        steps = {program["step"] for program in trace["programs"]}
        self.assertIn(7, steps)
        self.assertNotIn(0, steps)

    def test_a_file_that_cannot_be_written(self):
        result = self.run_job(changed(MLP, train={"steps": 2}), "--set", "trace.file=/proc/none/trace.json")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("trace.file", result.stderr)
        self.assertFalse((self.directory / "last.safetensors").exists(), "the job ends before the first step")


class Log(TrainJob):
    """What ranks say besides progress, by the settings of [log]."""

    def said(self, level):
        job = {"data": {"kind": "spirals", "samples": 64, "test_samples": 8}, "train": {"steps": 2}, "log": {"level": level, "format": "json"}}
        result = self.run_job(job, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stderr.splitlines() if '"level"' in line]

    def test_levels(self):
        self.assertEqual(self.said("warning"), [])
        self.assertEqual({record["level"] for record in self.said("debug")}, {"debug"})
        steps = [record for record in self.said("trace") if record["level"] == "trace"]
        self.assertEqual(len(steps), 4, "two steps of two ranks")


class Memory(TrainJob):
    def test_it_is_what_the_formula_says(self):
        """Parameters once per host, gradients once per rank, moments once over all ranks."""
        wide = changed(MLP, model={"hidden": [1200, 1200, 1200]}, train={"steps": 3})
        for name, momentum, moments in (("sgd", 0.0, 0), ("sgd", 0.9, 1), ("adamw", None, 2)):
            for ranks in (1, 2, 3):
                sections = changed(wide, optimizer={"name": name, "learning_rate": 0.001})
                if name == "sgd":
                    sections["optimizer"]["momentum"] = momentum
                plan = json.loads(self.run_job(sections, "--dry-run", "--json", ranks=ranks).stdout)
                seen = self.train(sections, ranks=ranks)
                formula = 4 * plan["parameters"] * (1 / ranks + 1 + moments / ranks)
                with self.subTest(name=name, momentum=momentum, ranks=ranks):
                    self.assertLessEqual(seen["memory_bytes"], 1.03 * formula, seen["memory"])
                    self.assertLessEqual(abs(plan["memory_bytes"] / formula - 1), 0.03, plan["memory"])
                    kept = {part["what"]: part["bytes"] for part in seen["memory"]}
                    self.assertGreaterEqual(kept["parameters"], 4 * plan["parameters"] // ranks)
                    self.assertGreaterEqual(kept["gradients"], 4 * 1200 * 1200)  # at least the gradients of one layer
                    self.assertGreaterEqual(kept["moments"], 4 * plan["parameters"] * moments // ranks)

    def test_sums_of_slots_and_clipping_need_more(self):
        """The plan counts a copy of the gradients for each level of the tree, and the reduced slices if the update waits."""
        wide = changed(MLP, model={"hidden": [300, 300]}, train={"steps": 2}, optimizer={"name": "sgd", "momentum": 0.0})
        for sections in (changed(wide, train={"deterministic": "any-world", "micro_batches": 8}),
                         changed(wide, train={"deterministic": "any-world", "micro_batches": 8}, optimizer={"clip_grad_norm": 1.0}),
                         changed(wide, optimizer={"clip_grad_norm": 1.0})):
            for ranks in (1, 2):
                plan = json.loads(self.run_job(sections, "--dry-run", "--json", ranks=ranks).stdout)
                seen = self.train(sections, ranks=ranks)
                with self.subTest(sections=sections, ranks=ranks):
                    self.assertLessEqual(abs(seen["memory_bytes"] / plan["memory_bytes"] - 1), 0.03,
                                         (seen["memory"], plan["memory"]))


class Models(TrainJob):
    def test_the_models_are_written(self):
        self.train(MLP)
        best, _ = tensors_of(self.directory / "best.safetensors")
        last, facts = tensors_of(self.directory / "last.safetensors")
        self.assertEqual({name: len(numbers) for name, numbers in last.items()},
                         {"layers.0.weight": 26, "layers.0.bias": 13, "layers.1.weight": 91, "layers.1.bias": 7,
                          "layers.2.weight": 21, "layers.2.bias": 3})
        self.assertEqual(set(best), set(last))
        self.assertEqual((facts["step"], facts["epoch"]), ("10", "2"))
        self.assertEqual({path.name for path in self.directory.iterdir()},
                         {"best.safetensors", "last.safetensors", "steps.jsonl"})

    def test_the_best_is_the_best(self):
        # The learning rate jumps after the first epoch's steps, so later evaluations are worse than the first.
        worse = changed(MLP, train={"epochs": 3}, optimizer={"learning_rate": 2.5, "name": "sgd", "momentum": 0.0}, schedule={"warmup_steps": 1000})
        seen = self.train(worse)
        _, facts = tensors_of(self.directory / "best.safetensors")
        self.assertIn(int(facts["epoch"]), (1, 2, 3))
        self.assertLessEqual(seen["best_loss"], seen["metrics"]["test loss"])

    def test_a_run_goes_on_from_a_file(self):
        first = self.train(changed(MLP, train={"epochs": 1}))
        start = self.directory / "last.safetensors"
        still = self.train(changed(MLP, model={"initial": str(start)}, optimizer={"learning_rate": 0.0}), ranks=3)
        self.assertEqual(still["parameters_hash"], first["parameters_hash"])
        moved = self.train(changed(MLP, model={"initial": str(start)}))
        self.assertNotEqual(moved["parameters_hash"], first["parameters_hash"])

    def test_groups(self):
        start, _ = self.trained_tensors(changed(MLP, optimizer={"learning_rate": 0.0}))
        groups = ["layers.0.*: frozen", "*.bias: learning_rate=0"]
        end, _ = self.trained_tensors(changed(MLP, optimizer={"groups": groups, "name": "adamw", "weight_decay": 0.1}))
        still = {name for name in start if start[name] == end[name]}
        self.assertEqual(still, {"layers.0.weight", "layers.0.bias", "layers.1.bias", "layers.2.bias"})

    def test_a_group_learns_where_the_rest_does_not(self):
        start, _ = self.trained_tensors(changed(MLP, optimizer={"learning_rate": 0.0}))
        end, _ = self.trained_tensors(changed(MLP, optimizer={"groups": ["*.bias: learning_rate=0.1", "*: learning_rate=0"]}))
        moved = {name for name in start if start[name] != end[name]}
        self.assertEqual(moved, {"layers.0.bias", "layers.1.bias", "layers.2.bias"})

    def trained_tensors(self, sections):
        self.train(sections)
        return tensors_of(self.directory / "last.safetensors")


class EveryOptimizer(TrainJob):
    def names(self):
        explained = subprocess.run([TOOL, "config", "explain", "optimizer.name"], check=True, capture_output=True, text=True, timeout=LIMIT)
        return re.search(r"allowed  one of (.*)", explained.stdout).group(1).split(", ")

    def test_the_example_trains_by_its_name_alone(self):
        numbers = random.Random(5)
        rows = [[digit * (pixel % 3 == digit % 3) + numbers.random() for pixel in range(64)] + [digit] for digit in range(10) for _ in range(13)]
        data = self.folder / "digits.csv"
        data.write_text("\n".join(",".join(map(str, row)) for row in [[f"p{i}" for i in range(64)] + ["digit"], *rows]) + "\n")
        names = self.names()
        self.assertGreaterEqual(len(names), 14)
        for name in names:
            folder = self.folder / name
            command = [TOOL, "train", ROOT / "examples" / "digits.toml", "-n", "2", "--json", "--set", f"optimizer.name={name}",
                       "--set", f"data.path={data}", "--set", f"train.directory={folder}", "--set", "train.epochs=4"]
            result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(result.returncode, 0, (name, result.stderr))
            losses = [line["loss"] for line in self.steps(folder)]
            self.assertLess(min(losses[-3:]), losses[0], name)


class Bits(TrainJob):
    def test_the_same_run_twice(self):
        for ranks in (1, 3):
            sections = changed(MLP, model={"dropout": 0.3}, data={"loader_threads": ranks, "prefetch": ranks})
            hashes = {self.train(sections, ranks=ranks)["parameters_hash"] for _ in range(2)}
            self.assertEqual(len(hashes), 1)

    def test_another_seed(self):
        hashes = {self.train(changed(MLP, train={"seed": seed}), ranks=1)["parameters_hash"] for seed in (0, 1, 2**63 - 1)}
        self.assertEqual(len(hashes), 3)

    def test_a_log_repeats(self):
        losses = []
        for _ in range(2):
            self.train(MLP)
            losses.append([line["loss"] for line in self.steps()])
        self.assertEqual(*losses)


def same_bits_in_any_world(kind):
    # Models differ only in the computation of one rank: one model is tried in every world, all of them in `make soak`.
    worlds = (1, 2, 4, 8) if kind == "mlp" or os.environ.get("COHORT_SOAK") == "1" else (1, 4)

    def test(self):
        sections = changed(ANY_WORLD[kind], train={"micro_batches": 8, "deterministic": "any-world"})
        seen = {ranks: self.train(sections, ranks=ranks) for ranks in worlds}
        self.assertEqual(len({each["parameters_hash"] for each in seen.values()}), 1, seen)
        self.assertEqual(len({each["loss"] for each in seen.values()}), 1, seen)
        self.assertEqual(len({each["metrics"]["test loss"] for each in seen.values() if each["metrics"]}), 1, seen)
    return test


class AnyWorld(TrainJob):
    """The number of threads is fixed: with another number torch sums in another order."""

    test_mlp = same_bits_in_any_world("mlp")
    test_lenet = same_bits_in_any_world("lenet")
    test_gpt = same_bits_in_any_world("gpt")
    test_resnet18 = same_bits_in_any_world("resnet18")

    def test_with_clipping_and_adamw(self):
        sections = changed(MLP, train={"micro_batches": 8, "deterministic": "any-world", "bucket_bytes": 1024},
                           optimizer={"name": "adamw", "weight_decay": 0.01, "clip_grad_norm": 0.05, "learning_rate": 0.01})
        self.assertEqual(len({self.train(sections, ranks=ranks)["parameters_hash"] for ranks in (1, 2, 4)}), 1)


class BatchNorm(TrainJob):
    NET = {"data": {"kind": "digits", "image_size": 16, "samples": 16, "test_samples": 3},
           "model": {"kind": "resnet18"}, "optimizer": {"momentum": 0.0, "learning_rate": 0.01},
           "train": {"batch_size": 7, "epochs": 1}}

    def losses(self, batch_norm, ranks):
        self.train(changed(self.NET, model={"batch_norm": batch_norm}), ranks=ranks)
        return [line["loss"] for line in self.steps()]

    def test_ranks_that_normalise_together_have_the_losses_of_one(self):
        alone = self.losses("local", 1)
        self.assertEqual(len(alone), 3)  # of 7, 7 and 2 samples: one of three ranks has none in the last
        apart = self.losses("local", 3)
        self.assertGreater(abs(apart[0] - alone[0]), 1e-3)
        for ranks in (1, 3):
            for found, expected in zip(self.losses("synchronised", ranks), alone):
                self.assertAlmostEqual(found, expected, delta=1e-3)

    def test_models_fit_both(self):
        self.train(self.NET)
        model = self.folder / "local.safetensors"
        (self.directory / "last.safetensors").rename(model)
        before, _ = tensors_of(model)
        self.train(changed(self.NET, model={"batch_norm": "synchronised", "initial": str(model)}))
        after, facts = tensors_of(self.directory / "last.safetensors")
        self.assertEqual(list(after), list(before))
        self.assertEqual(json.loads(facts["cohort.model"])["settings"]["batch_norm"], "synchronised")
        seen = subprocess.run([TOOL, "evaluate", str(self.directory / "last.safetensors"), "--data",
                               str(self.folder / "job 1.toml")], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(seen.returncode, 0, seen.stderr)

    def test_the_plan_has_a_turn_for_every_rank(self):
        sections = changed(self.NET, model={"batch_norm": "synchronised"}, train={"micro_batches": 5})
        plan = json.loads(self.run_job(sections, "--dry-run", "--json", ranks=2).stdout)
        self.assertEqual(plan["slots_of_rank"], [[0, 1, 5], [2, 3, 4]])

    def test_mistakes_are_explained(self):
        for change, words in (({"model": {"kind": "mlp", "batch_norm": "synchronised"}}, "no batch normalisation to synchronise"),
                              ({"model": {"batch_norm": "synchronised"}, "train": {"deterministic": "any-world", "micro_batches": 2}},
                               "the model has synchronised batch normalisation")):
            result = self.run_job(changed(self.NET, **change))
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(words, result.stderr)


class Data(TrainJob):
    def test_csv(self):
        numbers = random.Random(5)
        rows = ['"height, in m",weight,"kind ""of"" it"']
        for i in range(61):
            kind = i % 3
            rows.append(f'{kind + numbers.gauss(0, 0.1)},{-kind + numbers.gauss(0, 0.1)},"a, {"xyz"[kind]}"')
        path = self.folder / "größe.csv"
        path.write_text("\r\n".join(rows) + "\r\n", encoding="utf-8")
        seen = self.train({"data": {"kind": "csv", "path": str(path), "normalize": True, "test_share": 0.2},
                           "model": {"kind": "softmax"}, "train": {"batch_size": 7, "epochs": 8}}, ranks=3)
        self.assertEqual(seen["samples"], 49 * 8)  # a fifth of the 61 rows, rounded down, is kept for tests
        self.assertGreater(seen["metrics"]["accuracy"], 0.9)

    def test_csv_with_a_number_as_target(self):
        path = self.folder / "line.csv"
        path.write_text("y,x\n" + "".join(f"{0.5 * i - 3},{i / 10}\n" for i in range(-20, 21)))
        self.train({"data": {"kind": "csv", "path": str(path), "target_column": "y", "test_share": 0.0},
                    "model": {"kind": "linear"}, "optimizer": {"name": "sgd", "learning_rate": 0.1},
                    "train": {"batch_size": 0, "epochs": 150, "evaluate_every": 10}})
        tensors, _ = tensors_of(self.directory / "last.safetensors")
        self.assertAlmostEqual(tensors["layers.0.weight"][0], 5, 2)
        self.assertAlmostEqual(tensors["layers.0.bias"][0], -3, 2)

    def test_idx(self):
        numbers = random.Random(6)
        hashes = set()
        for ending in ("", ".gz"):
            folder = self.folder / f"images{ending}"
            folder.mkdir()
            numbers.seed(6)
            for part, count in (("train", 31), ("t10k", 6)):
                write_idx(folder / f"{part}-images-idx3-ubyte{ending}", [count, 9, 10], numbers.randbytes(count * 90))
                write_idx(folder / f"{part}-labels-idx1-ubyte{ending}", [count], [i % 4 for i in range(count)])
            for model in ("softmax", "lenet"):
                seen = self.train({"data": {"kind": "idx", "path": str(folder)}, "model": {"kind": model},
                                   "train": {"batch_size": 8, "epochs": 1}})
                self.assertEqual((seen["samples"], seen["steps"]), (31, 4))
                hashes.add(seen["parameters_hash"])
        self.assertEqual(len(hashes), 2, "packed or not, a model is the same")

    def test_text(self):
        path = self.folder / "text.txt"
        path.write_text("Über allen Gipfeln ist Ruh. " * 6, encoding="utf-8")
        for tokens in ("byte", "char"):
            seen = self.train({"data": {"kind": "text", "path": str(path), "tokens": tokens, "context": 11},
                               "model": {"kind": "gpt", "layers": 1, "width": 8, "heads": 2},
                               "train": {"batch_size": 32, "epochs": 1}})
            self.assertIn("test loss", seen["metrics"])


class Loop(TrainJob):
    def test_batches_of_any_size(self):
        for batch, steps in ((0, 1), (1, 7), (3, 3), (7, 1), (1000, 1)):
            for ranks in (1, 3):
                seen = self.train(changed(MLP, data={"samples": 7, "test_samples": 0}, train={"batch_size": batch, "epochs": 1}),
                                  ranks=ranks)
                self.assertEqual((seen["steps"], seen["samples"]), (steps, 7), (batch, ranks))

    def test_steps_end_it(self):
        for steps, epochs in ((1, 0), (5, 1), (7, 1)):
            seen = self.train(changed(MLP, train={"steps": steps}))
            self.assertEqual((seen["steps"], seen["epochs"], len(self.steps())), (steps, epochs, steps))

    def test_an_end_between_epochs_is_evaluated(self):
        self.assertIn("test loss", self.train(changed(MLP, train={"steps": 7, "epochs": 2}))["metrics"])
        self.assertIn("test loss", self.train(changed(MLP, train={"steps": 3}))["metrics"])

    def test_evaluation_only_at_the_end(self):
        seen = self.train(changed(MLP, train={"evaluate_every": 0}))
        self.assertIn("test loss", seen["metrics"])
        self.assertTrue((self.directory / "best.safetensors").exists())

    def test_patience(self):
        seen = self.train(changed(MLP, train={"epochs": 9, "patience": 2}, optimizer={"learning_rate": 0.0}))
        # The first evaluation is the best one; two worse ones follow.
        self.assertEqual((seen["ended"], seen["epochs"], seen["steps"]), ("no improvement", 3, 15))

    def rates(self, **schedule):
        self.train(changed(MLP, optimizer={"learning_rate": 0.5}, schedule=schedule), ranks=1)
        return [line["learning_rate"] for line in self.steps()]

    def assert_rates(self, seen, expected):
        self.assertEqual(len(seen), len(expected))
        for a, b in zip(seen, expected):
            self.assertAlmostEqual(a, b, 12)

    def test_schedules(self):
        self.assert_rates(self.rates(), [0.5] * 10)
        self.assert_rates(self.rates(name="step", step_size=4, gamma=0.5),
                          [0.5] * 4 + [0.25] * 4 + [0.125] * 2)
        self.assert_rates(self.rates(name="exponential", step_size=5, gamma=0.5),
                          [0.5 * 0.5 ** (step / 5) for step in range(10)])
        warm = self.rates(warmup_steps=4)
        self.assertEqual(warm, sorted(warm))
        self.assertLess(warm[0], 0.5)
        self.assert_rates(warm[4:], [0.5] * 6)

    def test_a_cosine_falls_over_the_whole_run(self):
        rates = self.rates(name="cosine", eta_min=0.1)
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertAlmostEqual(rates[0], 0.5, 12)
        self.assertLess(rates[-1], 0.15)

    def test_clipping(self):
        free = self.train(MLP)["parameters_hash"]
        self.assertEqual(self.train(changed(MLP, optimizer={"clip_grad_norm": 1e6}))["parameters_hash"], free)
        self.assertNotEqual(self.train(changed(MLP, optimizer={"clip_grad_norm": 1e-3}))["parameters_hash"], free)
        self.assertEqual(self.train(changed(MLP, optimizer={"clip_grad_value": 1e6}))["parameters_hash"], free)
        self.assertNotEqual(self.train(changed(MLP, optimizer={"clip_grad_value": 1e-4}))["parameters_hash"], free)

    def test_buckets_change_nothing(self):
        hashes = {self.train(changed(MLP, train={"bucket_bytes": size}), ranks=1)["parameters_hash"]
                  for size in (1024, 2**20, 2**32)}
        self.assertEqual(len(hashes), 1)


class Defaults(TrainJob):
    def test_the_run_directory(self):
        """In runs/ of the working directory, under the name of the job."""
        job = self.write_job(changed(MLP, train={"epochs": 1}), "ein Lauf.toml")
        result = subprocess.run([TOOL, "train", str(job), "-n", "1"], cwd=self.folder, capture_output=True, text=True,
                                timeout=LIMIT, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "runs/ein Lauf/last.safetensors").exists())


if __name__ == "__main__":
    unittest.main()
