"""Follows a page of docs/ that adds something, to the letter, on a copy of the tree: follow_adding.py PAGE BUILD-FOLDER

In the order of the page:
  a block below `<!-- new: PATH -->`    is written to that file, which must not exist; a source must then be listed in its CMakeLists.txt
  a block of diff                       changes files: below `--- PATH`, the lines with ' ' and '-' stand there once
Then a program of tests is built again, as far as the page changes it, by the commands of the build folder, which must be up to date. The tests
must pass, and have a case of what the page adds.
"""

import concurrent.futures
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONGEST = 60  # lines of a page
BLOCK = re.compile(r"(?:<!-- (\w+): ([^\n]*?) -->\n)?```(\w+)\n(.*?)```", re.S)
COPIED = ("cmake", "include", "src", "tests")
# For each page, the tests that show that it works, and a case of what it adds.
SHOWN_BY = {
    "adding-an-optimizer.md": ("update_test", "EveryOptimizer.FollowsItsFormula/signum"),
    "adding-a-reducer.md": ("reduce_test", "EveryReducer.GivesEachRankTheSumOfItsSlice/precise_on_hosts_of_two"),
    "adding-a-synchronizer.md": ("synchronizers_test", "EverySynchronizer.ReducesAsManyBucketsAsItShould/sparing"),
}


def add(tree, path, text):
    if (tree / path).exists():
        sys.exit(f"the page adds {path}, which exists")
    (tree / path).write_text(text)


def side(lines, signs):
    return "".join(line[1:] + "\n" for line in lines if line[0] in signs)


def change(tree, diff):
    """Applies the hunks; returns the paths."""
    paths = []
    for hunk in diff.split("--- ")[1:]:
        path, *lines = hunk.splitlines()
        before, after = side(lines, " -"), side(lines, " +")
        text = (tree / path).read_text()
        if text.count(before) != 1:
            sys.exit(f"these lines stand {text.count(before)} times in {path}, expected once:\n{before}")
        (tree / path).write_text(text.replace(before, after))
        paths.append(path)
    return paths


def follow(page, tree):
    """Writes and changes files as the page says; returns the new paths and the changed ones."""
    text = page.read_text()
    if len(text.splitlines()) > LONGEST:
        sys.exit(f"{page.name} has {len(text.splitlines())} lines, expected at most {LONGEST}")
    new, changed = [], []
    for kind, what, language, body in BLOCK.findall(text):
        if kind == "new":
            add(tree, what, body)
            new.append(what)
        elif language == "diff":
            changed += change(tree, body)
    if not new or not changed:
        sys.exit("the page has nothing to follow")
    for path in map(pathlib.Path, new):
        if path.suffix == ".cpp" and path.name not in (tree / path.parent / "CMakeLists.txt").read_text().split():
            sys.exit(f"the page adds {path}, but does not list it in CMakeLists.txt")
    return new, changed


class Copy:
    """A program of the build folder, built again from the copied tree, with objects of the build folder where they are up to date."""

    def __init__(self, build, tree, program):
        self.build, self.tree, self.folder = build, tree, tree / "build/copy"
        self.compile, self.archive = {}, {}  # the command of each object, the objects of each library
        for line in self.ninja("commands", program).splitlines():
            words = shlex.split(line.split(" && cd ")[0])
            objects = [word for word in words if word.endswith(".o")]
            if "-c" in words and "-emit-pch" not in words:
                self.compile[words[words.index("-o") + 1]] = words
            elif "qc" in words:
                self.archive[words[words.index("qc") + 1]] = objects
            elif program in words:
                self.link = words[words.index("&&") + 1:]

    def ninja(self, tool, *names):
        command = ["ninja", "-C", self.build, "-t", tool, *names]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=100).stdout

    def stale(self, changed):
        """The objects that were made of a changed file."""
        paths = {str(ROOT / path) for path in changed}
        found, current = [], None
        for line in self.ninja("deps", *self.compile).splitlines():
            if not line.startswith(" "):
                current = line.split(":")[0]
            elif str((self.build / line.strip()).resolve()) in paths and current not in found:
                found.append(current)
        return found

    def moved(self, word):
        """A word of a command, with the copy in place of the tree."""
        if str(self.build) in word:
            return word
        return re.sub(re.escape(str(ROOT)) + r"(?=/|$)", str(self.tree), word)

    def make_object(self, name, words):
        for option in ("-o", "-MF"):
            (self.folder / words[words.index(option) + 1]).parent.mkdir(parents=True, exist_ok=True)
        run([self.moved(word) for word in words], self.folder)
        return name

    def add_source(self, path):
        """Compiles a new source as the first joined one of its folder; the object joins the library, or the program."""
        folder = pathlib.Path(path).parent
        library = f"lib/libcohort_{folder.name}.a"
        siblings = self.archive[library] if folder.parts[0] == "src" else [each for each in self.compile if each.startswith(f"{folder}/")]
        like = next((each for each in siblings if "/unity/" in each), siblings[0])
        name = f"{path}.o"
        words = list(self.compile[like])
        words[words.index("-c") + 1] = str(ROOT / path)
        self.compile[name] = [name if word == like else f"{name}.d" if word == f"{like}.d" else word for word in words]
        self.archive[library].append(name) if folder.parts[0] == "src" else self.link.append(name)
        return name

    def make(self, new, changed):
        fresh = self.stale(changed) + [self.add_source(path) for path in new if path.endswith(".cpp")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda name: self.make_object(name, self.compile[name]), fresh))
        libraries = [library for library, objects in self.archive.items() if set(objects) & set(fresh)]
        for library in libraries:
            (self.folder / library).parent.mkdir(parents=True, exist_ok=True)
            run(["ar", "qc", library, *(self.place(each, fresh) for each in self.archive[library])], self.folder)
        result = self.folder / "program"
        words = [self.place(word, fresh + libraries) for word in self.link]
        words[words.index("-o") + 1] = str(result)
        run(words, self.folder)
        return result

    def place(self, word, fresh):
        """Objects and libraries that are not fresh are those of the build folder."""
        is_file = word.endswith((".o", ".a")) and not word.startswith(("/", "-"))
        return str(self.build / word) if is_file and word not in fresh else word


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=250)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def main():
    page, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    program, case = SHOWN_BY[page.name]
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder).resolve()
        for part in COPIED:
            shutil.copytree(ROOT / part, tree / part)
        if (ROOT / ".venv").exists():  # where libtorch is, unless the user has named another one
            (tree / ".venv").symlink_to(ROOT / ".venv")
        new, changed = follow(page, tree)
        copy = Copy(build, tree, f"bin/tests/{program}")
        copy.folder.mkdir(parents=True)
        if case not in run([str(copy.make(new, changed))], tree):
            sys.exit(f"the tests have no case {case}")
    print(f"{page.name} was followed, with {len(new)} new files and {len(changed)} changes: all tests pass, {case} as well")


if __name__ == "__main__":
    main()
