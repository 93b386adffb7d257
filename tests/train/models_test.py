"""Models of `cohort train` in use: what their files tell, `cohort evaluate`, `cohort predict`, and earlier runs of a folder."""

import csv
import io
import json
import os
import random
import signal
import struct
import subprocess
import unittest

from train_job import LIMIT, TOOL, TrainJob, tensors_of, write_idx

DIGITS = {"data": {"kind": "digits", "image_size": 12, "samples": 400, "test_samples": 150, "normalize": True},
          "model": {"kind": "lenet", "dropout": 0.1},
          "train": {"batch_size": 20, "epochs": 1}}
SPIRALS = {"data": {"kind": "spirals", "classes": 3, "samples": 300, "test_samples": 90},
           "model": {"kind": "mlp", "hidden": [16]},
           "train": {"batch_size": 20, "epochs": 2}}
TEXT = {"data": {"kind": "text", "context": 8}, "model": {"kind": "gpt", "layers": 1, "width": 16, "heads": 2},
        "train": {"batch_size": 16, "epochs": 1, "steps": 20}}


class Models(TrainJob):
    def tool(self, *words, code=0):
        result = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=LIMIT, cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        if code:
            self.assertEqual(result.stdout, "")
            return result.stderr
        return result.stdout

    def trained(self, sections, name="last", **more):
        """The object that training printed, the model file and the job file."""
        seen = self.train(sections, **more)
        return seen, self.directory / f"{name}.safetensors", self.folder / f"job {self.runs}.toml"

    def facts(self, model):
        metadata = tensors_of(model)[1]
        return {key: json.loads(text) if key.startswith("cohort.") else text for key, text in metadata.items()}

    def write_rows(self, name, rows, seed):
        """Rows of two numbers of different scale; the class tells whether their sum, each in its scale, is above 0."""
        chance = random.Random(seed)
        path = self.folder / name
        with path.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["height", "weight", "shape"])
            for _ in range(rows):
                x, y = chance.uniform(-1, 1), chance.uniform(-1, 1)
                writer.writerow([100 + 50 * x, 0.1 + 0.01 * y, "round" if x + y > 0 else "flat, or so"])
        return path

    def rows_job(self):
        return {"data": {"kind": "csv", "path": str(self.write_rows("rows.csv", 180, 5)),
                         "test_path": str(self.write_rows("test.csv", 20, 6)), "normalize": True},
                "model": {"kind": "mlp", "hidden": [8]}, "train": {"batch_size": 20, "epochs": 8}}


class Facts(Models):
    def test_of_rows(self):
        _, model, _ = self.trained(self.rows_job())
        facts = self.facts(model)
        self.assertEqual(facts["cohort.version"], 1)
        self.assertEqual(facts["cohort.model"]["kind"], "mlp")
        self.assertEqual(facts["cohort.model"]["settings"]["hidden"], [8])
        self.assertEqual(facts["cohort.model"]["settings"]["activation"], "relu")
        self.assertEqual(facts["cohort.input"]["shape"], [2])
        self.assertEqual(facts["cohort.input"]["features"], ["height", "weight"])
        self.assertAlmostEqual(facts["cohort.input"]["mean"][0], 100, delta=10)
        self.assertAlmostEqual(facts["cohort.input"]["deviation"][1], 0.0058, delta=0.001)
        self.assertEqual(facts["cohort.output"], {"loss": "cross_entropy", "target": "shape",
                                                  "classes": ["flat, or so", "round"], "outputs": 2})
        self.assertEqual((facts["step"], facts["epoch"]), ("72", "8"))

    def test_of_text(self):
        text = self.folder / "text.txt"
        text.write_text("to be or not to be " * 40)
        _, model, _ = self.trained({**TEXT, "data": {**TEXT["data"], "path": str(text)}})
        facts = self.facts(model)
        self.assertEqual(facts["cohort.vocabulary"], {"tokens": "char", "texts": sorted(set("to be or not"))})
        self.assertEqual(facts["cohort.input"]["context"], 8)
        self.assertEqual(facts["cohort.model"]["settings"]["width"], 16)


class Evaluate(Models):
    def test_equals_what_training_printed(self):
        """Generated digits, a few steps; the loss may differ by the size of the batches in which it is added."""
        for sections in (DIGITS, SPIRALS):
            seen, model, job = self.trained(sections)
            found = json.loads(self.tool("evaluate", model, "--data", job, "--json"))
            self.assertEqual(found["accuracy"], seen["metrics"]["accuracy"])
            self.assertAlmostEqual(found["loss"], seen["metrics"]["test loss"], places=5)
            self.assertEqual(found["samples"], sections["data"]["test_samples"])
        table = self.tool("evaluate", model, "--data", job)
        for word in ("accuracy", "loss", "samples", "90"):
            self.assertIn(word, table)
        self.assertEqual(json.loads(self.tool("evaluate", model, "--data", job, "--part", "train", "--json"))["samples"], 300)

    def test_whole_numbers_are_what_they_were_in_training(self):
        """The model tells whether a column of whole numbers is classes or numbers: evaluation does not ask."""
        path = self.folder / "whole.csv"
        path.write_text("x,y\n" + "".join(f"{i % 7 - 3},{2 if i % 7 > 3 else 5}\n" for i in range(70)))
        for target, kind in (("class", "softmax"), ("number", "linear")):
            data = {"kind": "csv", "path": str(path), "target": target}
            _, model, _ = self.trained({"data": data, "model": {"kind": kind}, "train": {"batch_size": 20, "epochs": 1}})
            found = json.loads(self.tool("evaluate", model, "--data", path, "--json"))
            self.assertEqual((found["samples"], "accuracy" in found), (70, target == "class"), found)

    def test_files_get_the_normalisation_of_the_model(self):
        seen, model, _ = self.trained(self.rows_job())
        part = self.folder / "test.csv"  # its own mean is another than that of the training data
        found = json.loads(self.tool("evaluate", model, "--data", part, "--json"))
        self.assertEqual(found["samples"], 20)
        self.assertAlmostEqual(found["accuracy"], seen["metrics"]["accuracy"])
        self.assertAlmostEqual(found["loss"], seen["metrics"]["test loss"], places=5)
        turned = self.folder / "turned.csv"
        with turned.open("w") as out:
            writer = csv.writer(out)
            for row in csv.reader(part.read_text().splitlines()):
                writer.writerow([row[2], "id" if row[0] == "height" else 1, row[1], row[0]])
        again = json.loads(self.tool("evaluate", model, "--data", turned, "--json"))
        self.assertEqual(again["accuracy"], found["accuracy"])

    def test_images_and_text(self):
        chance = random.Random(3)
        for part, count in (("train", 60), ("t10k", 20)):
            write_idx(self.folder / f"{part}-images-idx3-ubyte", (count, 6, 6), chance.randbytes(count * 36))
            write_idx(self.folder / f"{part}-labels-idx1-ubyte", (count,), [i % 3 for i in range(count)])
        images = {"data": {"kind": "idx", "path": str(self.folder), "normalize": True}, "model": {"kind": "mlp"},
                  "train": {"batch_size": 20, "epochs": 1}}
        seen, model, _ = self.trained(images)
        found = json.loads(self.tool("evaluate", model, "--data", self.folder / "t10k-images-idx3-ubyte", "--json"))
        self.assertEqual(found["accuracy"], seen["metrics"]["accuracy"])
        text = self.folder / "text.txt"
        text.write_text("to be or not to be " * 40)
        _, model, _ = self.trained({**TEXT, "data": {**TEXT["data"], "path": str(text)}})
        other = self.folder / "other.txt"
        other.write_text("not to be " * 9)
        found = json.loads(self.tool("evaluate", model, "--data", other, "--json"))
        self.assertGreater(found["samples"], 0)
        self.assertLess(found["loss"], 3)

    def test_mistakes(self):
        _, model, job = self.trained(SPIRALS)
        error = self.tool("evaluate", model, "--data", self.write_rows("three.csv", 3, 1), code=2)
        self.assertIn("its class 'flat, or so' is unknown to the model", error)
        self.assertIn(f"'{self.folder}/none.csv'", self.tool("evaluate", model, "--data", "none.csv", code=1))
        self.assertIn("cannot be used as a model", self.tool("evaluate", job, "--data", job, code=1))
        self.assertIn("--part is for the data of a job", self.tool("evaluate", model, "--data", "x.csv", "--part", "test", code=2))
        none = self.write_job({**SPIRALS, "data": {**SPIRALS["data"], "test_samples": 0}}, "none.toml")
        self.assertIn("--part train", self.tool("evaluate", model, "--data", none, code=2))
        content = model.read_bytes()
        model.write_bytes(content[:-3])
        self.assertIn("cannot be used as a model", self.tool("evaluate", model, "--data", job, code=1))


class Predict(Models):
    def test_rows(self):
        _, model, _ = self.trained(self.rows_job())
        rows = self.folder / "new.csv"
        rows.write_text('weight,name,height\n0.105,"a, b",140\n0.09,c,60\n')
        table = list(csv.reader(io.StringIO(self.tool("predict", model, rows))))
        self.assertEqual(table[0], ["weight", "name", "height", "prediction", "probability"])
        self.assertEqual([row[:4] for row in table[1:]], [["0.105", "a, b", "140", "round"], ["0.09", "c", "60", "flat, or so"]])
        found = json.loads(self.tool("predict", model, rows, "--json"))["predictions"]
        for row, each in zip(table[1:], found):
            self.assertEqual(each["class"], row[3])
            self.assertAlmostEqual(each["probability"], float(row[4]), places=5)
            self.assertAlmostEqual(sum(each["probabilities"].values()), 1, places=5)
        plain = self.folder / "plain.csv"
        plain.write_text("140,0.105\n")
        self.assertTrue(self.tool("predict", model, plain).startswith("140,0.105,round,0."))
        self.assertEqual(len(self.tool("predict", model, rows, "--index", 1).splitlines()), 2)

    def test_numbers(self):
        sections = {"data": {"kind": "regression", "features": 2, "samples": 400, "noise": 0.0}, "model": {"kind": "linear"},
                    "train": {"batch_size": 20, "epochs": 6}}
        _, model, _ = self.trained(sections)
        rows = self.folder / "rows.csv"
        rows.write_text("a,b\n0,0\n1,0\n")
        lines = self.tool("predict", model, rows).splitlines()
        self.assertEqual(lines[0], "a,b,prediction")
        tensors = tensors_of(model)[0]
        self.assertAlmostEqual(float(lines[1].split(",")[2]), tensors["layers.0.bias"][0], places=5)
        self.assertAlmostEqual(float(lines[2].split(",")[2]), tensors["layers.0.bias"][0] + tensors["layers.0.weight"][0],
                               places=5)

    def test_an_image(self):
        """The same image as PGM and as record of an IDX file."""
        _, model, _ = self.trained(DIGITS)
        chance = random.Random(4)
        pixels = chance.randbytes(3 * 144)
        write_idx(self.folder / "images", (3, 12, 12), pixels)
        (self.folder / "one.pgm").write_bytes(b"P5\n12 12\n255\n" + pixels[144:288])
        table = list(csv.reader(io.StringIO(self.tool("predict", model, "images"))))
        self.assertEqual(table[0], ["sample", "prediction", "probability"])
        self.assertEqual([row[0] for row in table[1:]], ["0", "1", "2"])
        one = list(csv.reader(io.StringIO(self.tool("predict", model, "one.pgm"))))
        self.assertEqual(one[1][1], table[2][1])
        self.assertAlmostEqual(float(one[1][2]), float(table[2][2]), places=4)
        self.assertEqual(self.tool("predict", model, "images", "--index", 1).splitlines()[1], ",".join(table[2]))
        self.assertIn("--index 3", self.tool("predict", model, "images", "--index", 3, code=2))
        (self.folder / "small.pgm").write_bytes(b"P5 1 1 255 a")
        self.assertIn("the model takes [1, 12, 12]", self.tool("predict", model, "small.pgm", code=2))

    def test_text(self):
        text = self.folder / "text.txt"
        text.write_text("to be or not to be " * 40)
        _, model, _ = self.trained({**TEXT, "data": {**TEXT["data"], "path": str(text)}})
        once = self.tool("predict", model, "to ", "--tokens", 30, "--seed", 7)
        self.assertEqual(len(once), 3 + 30 + 1)
        self.assertTrue(once.startswith("to "))
        self.assertLessEqual(set(once.strip("\n")), set("to be or not"))
        self.assertEqual(self.tool("predict", model, "to ", "--tokens", 30, "--seed", 7), once)
        self.assertNotEqual(self.tool("predict", model, "to ", "--tokens", 30, "--seed", 8), once)
        greedy = self.tool("predict", model, "to ", "--temperature", 0, "--tokens", 9)
        self.assertEqual(self.tool("predict", model, "to ", "--top-k", 1, "--seed", 5, "--tokens", 9), greedy)
        found = json.loads(self.tool("predict", model, "to ", "--tokens", 30, "--seed", 7, "--json"))
        self.assertEqual(found["prompt"] + found["text"] + "\n", once)
        self.assertIn("'ü', at byte 3", self.tool("predict", model, "to ü", code=2))
        self.assertIn("'-' is none of", self.tool("predict", model, "--", "-x", code=2).replace(", at byte 0 of the text,", ""))
        self.assertIn("the prompt is empty", self.tool("predict", model, "", code=2))
        self.assertIn("--index does not apply", self.tool("predict", model, "to", "--index", 1, code=2))

    def test_mistakes(self):
        _, model, _ = self.trained(self.rows_job())
        rows = self.folder / "wrong.csv"
        rows.write_text("height,width\n1,2\n")
        self.assertIn("has no column 'weight', which the model takes; its columns are 'height', 'width'",
                      self.tool("predict", model, rows, code=2))
        rows.write_text("height,weight\n1,heavy\n")
        self.assertIn("line 2, column 2: 'heavy' is not a number", self.tool("predict", model, rows, code=1))
        self.assertIn("--tokens does not apply", self.tool("predict", model, rows, "--tokens", 3, code=2))
        self.assertIn("no such file", self.tool("predict", model, "none.csv", code=1))
        self.assertIn("cannot be used as a model", self.tool("predict", rows, rows, code=1))
        plain = self.folder / "plain.safetensors"
        header = b'{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        plain.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
        self.assertIn("nothing that tells how to use them", self.tool("predict", plain, rows, code=2))

    def test_the_example_gives_the_same(self):
        example = TOOL.parent / "examples" / "example_predict"
        _, model, _ = self.trained(SPIRALS)
        rows = self.folder / "rows.csv"
        rows.write_text("0.5,-0.25\n-0.75,0.125\n")
        result = subprocess.run([example, model], input=rows.read_text().replace(",", " "), capture_output=True, text=True,
                                timeout=LIMIT)
        self.assertEqual(result.returncode, 0, result.stderr)
        expected = [line.split(",")[2:] for line in self.tool("predict", model, rows).splitlines()]
        for line, (name, probability) in zip(result.stdout.splitlines(), expected, strict=True):
            self.assertEqual(line.split()[0], name)
            self.assertAlmostEqual(float(line.split()[1]), float(probability), places=4)


class Again(Models):
    """Several runs of one folder."""

    def test_three_runs_keep_all_results(self):
        directory = self.folder / "runs"
        hashes = []
        for seed in (1, 2, 3):
            sections = {**SPIRALS, "train": {**SPIRALS["train"], "directory": str(directory), "seed": seed, "steps": 4 - seed}}
            self.train(sections)
            hashes.append((directory / "last.safetensors").read_bytes())
        self.assertEqual(sorted(path.name for path in directory.iterdir()),
                         ["best.safetensors", "earlier-1", "earlier-2", "last.safetensors", "steps.jsonl"])
        for number, content in ((1, hashes[0]), (2, hashes[1])):
            earlier = directory / f"earlier-{number}"
            self.assertEqual(sorted(path.name for path in earlier.iterdir()),
                             ["best.safetensors", "last.safetensors", "steps.jsonl"])
            self.assertEqual((earlier / "last.safetensors").read_bytes(), content)
            self.assertEqual(len((earlier / "steps.jsonl").read_text().splitlines()), 4 - number)

    def test_temporary_files_of_a_killed_run_go(self):
        directory = self.folder / "runs"
        directory.mkdir()
        for name in ("best", "last"):
            (directory / f".{name}.safetensors.tmp").write_bytes(b"half a model")
        self.train({**SPIRALS, "train": {**SPIRALS["train"], "directory": str(directory)}})
        self.assertEqual(sorted(path.name for path in directory.iterdir()), ["best.safetensors", "last.safetensors", "steps.jsonl"])

    def test_a_folder_that_is_gone_at_the_end(self):
        """The model of an interrupted run whose folder became a file is rescued, and all ranks end."""
        directory = self.folder / "runs"
        sections = {**SPIRALS, "train": {"batch_size": 20, "epochs": 10**9, "evaluate_every": 0, "directory": str(directory)}}
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        job = self.start(sections, "--json")
        self.wait_for_steps(job, directory)
        directory.rename(self.folder / "moved")
        directory.write_text("in the way")
        job.send_signal(signal.SIGINT)
        code, _, error_output = self.end_of(job)
        self.assertEqual(code, 128 + signal.SIGINT, error_output)
        self.assertIn("rank 0 exited with 1", error_output)
        self.assertIn("rank 1 exited with 75", error_output)
        self.assertIn(f"the trained model is in '{self.folder}/rescued-last.safetensors'", error_output)
        self.assertIn(str(directory), error_output)
        self.assertIn("cohort.model", tensors_of(self.folder / "rescued-last.safetensors")[1])


if __name__ == "__main__":
    unittest.main()
