"""Counts the lines by which examples/five_lines differs from examples/one_process."""

import difflib
import pathlib
import sys
import unittest

EXAMPLES = pathlib.Path(sys.argv.pop(1))


def code_of(example):
    lines = (EXAMPLES / example / "main.cpp").read_text().splitlines()
    return [line for line in lines if not line.startswith("//")]


class FiveLines(unittest.TestCase):
    def test_no_more_are_added_or_changed(self):
        changes = list(difflib.unified_diff(code_of("one_process"), code_of("five_lines"), n=0, lineterm=""))
        added = [line for line in changes if line.startswith("+") and not line.startswith("+++")]
        self.assertEqual(len(added), 5, "\n".join(changes))


unittest.main()
