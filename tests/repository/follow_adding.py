"""Follows docs/adding-an-optimizer.md to the letter, on a copy of the tree: follow_adding.py BASE-LIBRARY COMPILER...

In the order of the page:
  a block below `<!-- new: PATH -->`    is written to that file, which must not exist
  a block of diff                       changes files: below `--- PATH`, the lines with ' ' and '-' stand there once
Then the kernels and their tests are compiled, without CMake, and the tests are run: they must have a case of the new optimizer.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/adding-an-optimizer.md"
LONGEST = 60  # lines of the page
BLOCK = re.compile(r"(?:<!-- (\w+): ([^\n]*?) -->\n)?```(\w+)\n(.*?)```", re.S)
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Wswitch", "-Werror", "-ffp-contract=off", "-Iinclude", "-Isrc", "-Itests"]
SETS = {"kernels_avx2.cpp": ["-mavx2"], "kernels_avx512.cpp": ["-mavx512f", "-mavx512dq", "-mavx512vl"]}
SOURCES = ("kernels*.cpp", "optimizer.cpp")
TESTS = ("tests/update/optimizer_test.cpp", "tests/update/kernels_test.cpp")


def add(tree, path, text):
    if (tree / path).exists():
        sys.exit(f"the page adds {path}, which exists")
    (tree / path).write_text(text)


def side(lines, signs):
    return "".join(line[1:] + "\n" for line in lines if line[0] in signs)


def change(tree, diff):
    for hunk in diff.split("--- ")[1:]:
        path, *lines = hunk.splitlines()
        before, after = side(lines, " -"), side(lines, " +")
        text = (tree / path).read_text()
        if text.count(before) != 1:
            sys.exit(f"these lines stand {text.count(before)} times in {path}, expected once:\n{before}")
        (tree / path).write_text(text.replace(before, after))


def compiled(tree, compiler, source):
    result = f"{source.replace('/', '_')}.o"
    command = [*compiler, *FLAGS, *SETS.get(pathlib.Path(source).name, []), "-c", source, "-o", result]
    # The tree is somewhere else in each run: without its path, ccache finds the results of the last one.
    environment = {**os.environ, "CCACHE_NOHASHDIR": "1"}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=200)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return result


def main():
    base, *compiler = sys.argv[1:]
    base = pathlib.Path(base).resolve()
    text = PAGE.read_text()
    if len(text.splitlines()) > LONGEST:
        sys.exit(f"{PAGE.name} has {len(text.splitlines())} lines, expected at most {LONGEST}")
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for part in ("include", "src/base", "src/update", "tests/update"):
            shutil.copytree(ROOT / part, tree / part)
        steps = [block for block in BLOCK.findall(text) if block[0] == "new" or block[2] == "diff"]
        for kind, what, _, body in steps:
            add(tree, what, body) if kind == "new" else change(tree, body)
        if len(steps) < 2:
            sys.exit("the page has nothing to follow")
        sources = [str(path.relative_to(tree)) for name in SOURCES for path in sorted((tree / "src/update").glob(name))]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(lambda source: compiled(tree, compiler, source), [*sources, *TESTS]))
        program = [compiler[-1], *objects, base, "-lgtest", "-lgtest_main", "-pthread", "-o", "update_test"]
        subprocess.run(program, cwd=tree, check=True, timeout=200)
        done = subprocess.run(["./update_test"], cwd=tree, capture_output=True, text=True, timeout=200)
        if done.returncode != 0 or "EveryOptimizer.FollowsItsFormula/lion" not in done.stdout:
            sys.exit(f"the tests ended with {done.returncode}:\n{done.stdout[-4000:]}")
    print(f"the page was followed, with {len(steps)} blocks: all tests pass, those of the new optimizer as well")


if __name__ == "__main__":
    main()
