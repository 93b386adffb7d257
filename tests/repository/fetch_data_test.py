"""dev/fetch-data takes data sets from a folder, checks them, and leaves no partial files. Needs no network."""

import gzip
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def fetch(*arguments):
    return subprocess.run([sys.executable, ROOT / "dev/fetch-data", *map(str, arguments)], capture_output=True, text=True)


def digits(rows=1797, cell="16.0"):
    return "".join(",".join([cell] * 64 + [f"{i % 10}.0"]) + "\n" for i in range(rows))


def idx(*shape, last=b""):
    count = 1
    for size in shape:
        count *= size
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape) + bytes(count - len(last)) + last


class FetchData(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.source = pathlib.Path(scratch.name) / "source"
        self.to = pathlib.Path(scratch.name) / "to"
        self.source.mkdir()

    def fetched(self, name):
        return fetch(name, "--from", self.source, "--to", self.to)

    def refused(self, name, words):
        result = self.fetched(name)
        self.assertEqual(result.returncode, 1)
        self.assertIn(words, result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        self.assertFalse(self.to.exists() and any(self.to.iterdir()))

    def test_digits_get_a_header_and_whole_numbers(self):
        (self.source / "digits.csv.gz").write_bytes(gzip.compress(digits().encode()))
        result = self.fetched("digits")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = (self.to / "digits.csv").read_text().splitlines()
        self.assertEqual(len(lines), 1798)
        self.assertTrue(lines[0].startswith("p0,p1,") and lines[0].endswith(",p63,digit"))
        self.assertEqual(lines[8], "16," * 64 + "7")

    def test_a_second_time_nothing_happens(self):
        (self.source / "digits.csv").write_text(digits())
        self.fetched("digits")
        before = (self.to / "digits.csv").stat().st_mtime_ns
        again = fetch("digits", "--from", self.source / "nowhere", "--to", self.to)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("is present", again.stdout)
        self.assertEqual((self.to / "digits.csv").stat().st_mtime_ns, before)

    def test_a_damaged_set_is_fetched_again(self):
        (self.source / "digits.csv").write_text(digits())
        self.fetched("digits")
        (self.to / "digits.csv").write_text(digits(5))
        self.assertEqual(self.fetched("digits").returncode, 0)
        self.assertEqual(len((self.to / "digits.csv").read_text().splitlines()), 1798)

    def test_wrong_digits_are_refused(self):
        self.refused("digits", "there is no digits.csv[.gz] in")
        (self.source / "digits.csv").write_text(digits(1796))
        self.refused("digits", "has 1796 rows, expected 1797")
        (self.source / "digits.csv").write_text(digits(cell="17"))
        self.refused("digits", "row 1: expected 64 numbers")
        (self.source / "digits.csv").write_text(digits(cell="x"))
        self.refused("digits", "row 1 has a cell that is not a number")
        (self.source / "digits.csv").write_bytes(gzip.compress(digits().encode())[:-9])
        self.refused("digits", "is damaged")

    def test_mnist_is_packed_and_checked(self):
        for part, count in (("train", 60000), ("t10k", 10000)):
            (self.source / f"{part}-images-idx3-ubyte").write_bytes(idx(count, 28, 28))
            (self.source / f"{part}-labels-idx1-ubyte").write_bytes(idx(count, last=b"\x09"))
        result = self.fetched("mnist")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(gzip.decompress((self.to / "t10k-labels-idx1-ubyte.gz").read_bytes()), idx(10000, last=b"\x09"))
        self.assertEqual(len(list(self.to.iterdir())), 4)

    def test_wrong_mnist_is_refused(self):
        (self.source / "train-images-idx3-ubyte").write_bytes(idx(59999, 28, 28))
        self.refused("mnist", "is not an IDX file of 60000 images of 28 × 28")

    def test_an_unknown_set_is_a_usage_error(self):
        self.assertEqual(fetch("cats").returncode, 2)


if __name__ == "__main__":
    unittest.main()
