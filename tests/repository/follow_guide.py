"""Follows a guide to the letter, from an empty folder: follow_guide.py GUIDE PREFIX.

In the order of the page:
  a block below `<!-- file: … -->`      is written to a file of that name
  a block of diff                       changes lines of main.cpp: its lines with ' ' and '-' stand there once
  a block below `<!-- run: by … -->`    is run by bash; variables that it exports stay
  a block below `<!-- prints: … -->`    is compared with the output of the last commands: numbers that have a fraction, or are followed
                                        by %, may differ by 2, and lines may come in another order
In commands, /opt/cohort stands for PREFIX. Other blocks are parts of programs, which dev/check-docs compares.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

GUIDE, PREFIX = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
BLOCK = re.compile(r"(?:<!-- (\w+): ([^\n]*?) -->\n)?```(\w+)\n(.*?)```", re.S)
FIGURE = re.compile(r"\d+\.\d+|\d+(?= %)")
TOLERANCE = 2
LIMIT = 200  # seconds; only a broken program takes this long


class Reader:
    """A reader of the guide, who has a folder and a shell."""

    def __init__(self, folder):
        self.folder = folder
        self.variables = dict(os.environ)
        self.output = ""

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def change(self, diff):
        lines = diff.splitlines()
        before, after = (side([line for line in lines if line[0] in signs]) for signs in (" -", " +"))
        program = (self.folder / "main.cpp").read_text()
        found = program.count(before)
        if found != 1:
            sys.exit(f"guide: these lines stand {found} times in main.cpp, expected once:\n{before}")
        self.write("main.cpp", program.replace(before, after))

    def run(self, commands):
        ours = commands.replace("/opt/cohort", str(PREFIX))
        ready, self.output = self.folder / ".variables", ""
        result = subprocess.run(["bash", "-ec", f"{ours}\nenv -0 >'{ready}'"], cwd=self.folder, env=self.variables, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
        self.output = result.stdout
        print(f"{commands}{self.output}", end="", flush=True)
        if result.returncode != 0:
            sys.exit(f"guide: the commands ended with {result.returncode}")
        self.variables = dict(each.split("=", 1) for each in ready.read_text().split("\0") if each)
        ready.unlink()

    def compare(self, extent, expected):
        lines = self.output.splitlines()
        wanted = expected.splitlines()
        if extent != "all lines":
            lines = lines[-len(wanted):]
        if not (len(lines) == len(wanted) and all(map(are_alike, sorted(lines), sorted(wanted)))):
            sys.exit(f"guide: the page says that this is printed:\n{expected}")

    def follow(self, kind, what, language, text):
        if kind == "file":
            self.write(pathlib.Path(what).name, text)
        elif language == "diff":
            self.change(text)
        elif kind == "run":
            self.run(text)
        elif kind == "prints":
            self.compare(what, text)


def side(lines):
    return "".join(line[1:] + "\n" for line in lines)


def are_alike(line, wanted):
    figures = zip(FIGURE.findall(line), FIGURE.findall(wanted))
    return FIGURE.sub("#", line) == FIGURE.sub("#", wanted) and all(abs(float(a) - float(b)) <= TOLERANCE for a, b in figures)


def main():
    blocks = BLOCK.findall(GUIDE.read_text())
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(pathlib.Path(folder))
        for block in blocks:
            reader.follow(*block)
    kinds = [kind if language != "diff" else language for kind, _, language, _ in blocks]
    counts = {kind: kinds.count(kind) for kind in ("file", "diff", "run", "prints")}
    if 0 in counts.values():
        sys.exit(f"guide: nothing to follow: {counts}")
    print(f"guide: followed, with {counts['file']} files, {counts['diff']} changes, {counts['run']} blocks of commands and "
          f"{counts['prints']} outputs")


if __name__ == "__main__":
    main()
