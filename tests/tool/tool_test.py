"""The tool as used by people and by scripts: JSON, colours, completion, closed or full outputs."""

import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()


def run(*arguments, **more):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=60, **more)


def run_on_terminal(*arguments, **environment):
    """Standard output of the tool when it is a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen([TOOL, *arguments], stdout=slave, env={**os.environ, "TERM": "xterm", **environment})
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    process.wait(timeout=60)
    os.close(master)
    return text.decode()


class Version(unittest.TestCase):
    def test_names_all_three(self):
        text = run("version").stdout
        for word in ("cohort", "libtorch", "compiler"):
            self.assertIn(word, text)

    def test_json(self):
        self.assertEqual(set(json.loads(run("version", "--json").stdout)), {"cohort", "libtorch", "compiler"})


class New(unittest.TestCase):
    """That the project builds and trains is shown by tests/repository/installed_test.sh."""

    def test_the_files_carry_the_name_of_the_project(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("new", "deep/tiny-net/", cwd=folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            project = pathlib.Path(folder) / "deep/tiny-net"
            self.assertEqual({file.name for file in project.iterdir()}, {"CMakeLists.txt", "main.cpp", "README.md", ".gitignore"})
            self.assertIn("add_executable(tiny-net main.cpp)", (project / "CMakeLists.txt").read_text())
            for file in project.iterdir():
                self.assertNotIn("my_project", file.read_text(), file)
            self.assertIn("cohort run -n 2 deep/tiny-net/build/tiny-net", result.stdout)
            self.assertIn("make install", result.stdout)  # this tool is not installed
            (project / "main.cpp").write_text("mine")
            self.assertEqual(run("new", "deep/tiny-net", cwd=folder).returncode, 2)
            self.assertEqual((project / "main.cpp").read_text(), "mine")


class Doctor(unittest.TestCase):
    def test_json_parses_and_says_what_it_found(self):
        result = run("doctor", "--json")
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0 if report["ok"] else 1)
        topics = {finding["topic"] for finding in report["findings"]}
        self.assertTrue({"cores", "memory", "shared memory", "libtorch", "MPI", "network", "open files"} <= topics, topics)
        for finding in report["findings"]:
            self.assertIn(finding["severity"], ("fine", "note", "warning", "problem"))
            self.assertTrue(finding["remedy"] or finding["severity"] == "fine", finding)
        self.assertGreaterEqual(report["survey"]["cores"]["online"], 1)
        self.assertTrue(report["survey"]["libtorch"]["version"].startswith("2."), report["survey"]["libtorch"])

    def test_a_job_too_large_for_any_machine_is_a_problem(self):
        result = run("doctor", "--json", "--set", "launch.ranks=60000", "--set", "launch.memory_per_rank=1TiB",
                     "--set", "doctor.probe_libtorch=false")
        self.assertEqual(result.returncode, 1)
        self.assertFalse(json.loads(result.stdout)["ok"])

    def test_a_missing_interface_is_a_problem_with_a_remedy(self):
        result = run("doctor", "--json", "--set", 'launch.interfaces=["nowhere0"]', "--set", "doctor.probe_libtorch=false")
        findings = [f for f in json.loads(result.stdout)["findings"] if "nowhere0" in f["found"]]
        self.assertEqual([f["severity"] for f in findings], ["problem"])
        self.assertTrue(findings[0]["remedy"])

    def test_the_probe_can_be_left_out(self):
        report = json.loads(run("doctor", "--json", "--set", "doctor.probe_libtorch=false").stdout)
        libtorch = [f for f in report["findings"] if f["topic"] == "libtorch"]
        self.assertEqual([f["severity"] for f in libtorch], ["note"])

    def test_the_log_goes_to_standard_error_in_the_wished_form(self):
        result = run("doctor", "--json", "--set", "log.level=trace", "--set", "log.format=json",
                     "--set", "doctor.probe_libtorch=false")
        lines = [json.loads(line) for line in result.stderr.splitlines()]
        self.assertIn("reading /proc/meminfo", [line["text"] for line in lines])
        json.loads(result.stdout)

    def test_without_the_probe_program_it_still_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            moved = pathlib.Path(folder) / "cohort"
            moved.write_bytes(TOOL.read_bytes())
            moved.chmod(0o755)
            result = subprocess.run([moved, "doctor", "--json"], capture_output=True, text=True, timeout=60)
            libtorch = [f for f in json.loads(result.stdout)["findings"] if f["topic"] == "libtorch"]
            self.assertEqual(result.returncode, 1)
            self.assertEqual(libtorch[0]["severity"], "problem")


class Colours(unittest.TestCase):
    def test_on_a_terminal_only(self):
        self.assertIn("\033[", run_on_terminal("config", "explain"))
        self.assertNotIn("\033[", run("config", "explain").stdout)

    def test_not_when_asked_not_to(self):
        self.assertNotIn("\033[", run_on_terminal("config", "explain", NO_COLOR="1"))
        self.assertNotIn("\033[", run_on_terminal("config", "explain", TERM="dumb"))


class Surroundings(unittest.TestCase):
    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([TOOL, "config", "explain"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write to standard output", result.stderr)

    def test_the_tool_does_not_load_libtorch(self):
        needed = subprocess.run(["readelf", "-d", TOOL], capture_output=True, text=True, check=True).stdout
        self.assertIn("NEEDED", needed)
        self.assertNotIn("libtorch", needed)
        self.assertNotIn("libc10", needed)

    def test_every_command_answers_help(self):
        for words in ([], ["config"], ["config", "explain"], ["config", "check"], ["config", "show"], ["doctor"], ["run"], ["train"],
                      ["evaluate"], ["predict"], ["version"], ["completion"], ["reference"]):
            for flag in ("--help", "-h"):
                result = run(*words, flag)
                self.assertEqual((result.returncode, result.stderr), (0, ""), words)
                self.assertIn("Usage", result.stdout)


BASH = """source <("$1" completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cohort; printf '%s\\n' "${COMPREPLY[@]}" """

# Calls the function as zsh does and writes its candidates to a file.
ZSH = """
compdef() { :; }
source <("$1" completion zsh)
compadd() {
  while [[ $1 == -* && $1 != -- ]]; do [[ $1 == -S ]] && shift; shift; done
  shift
  print -l -- "$@" >> "$RESULT"
}
_files() { print FILES >> "$RESULT" }
words=("$@"); CURRENT=$#
_cohort
"""


class Completion(unittest.TestCase):
    CASES = (
        (["doc"], ["doctor"]),
        (["config", ""], ["explain", "check", "show"]),
        (["doctor", "--js"], ["--json"]),
        (["config", "explain", "launch.r"], ["launch.ranks"]),
        (["completion", ""], ["bash", "zsh"]),
        (["reference", "e"], ["exit-codes"]),
        (["ru"], ["run"]),
        (["run", "-n", "2", "--pi"], ["--pin"]),
        (["tr"], ["train"]),
        (["train", "job.toml", "--dr"], ["--dry-run"]),
        (["pr"], ["predict"]),
        (["predict", "best.safetensors", "--te"], ["--temperature"]),
        (["evaluate", "best.safetensors", "--part", ""], ["test", "train"]),
        (["evaluate", "best.safetensors", "--set", "data.pa"], ["data.path="]),
        (["train", "job.toml", "--set", "model.kind=l"], ["model.kind=linear", "model.kind=logistic", "model.kind=lenet"]),
        (["run", "--set", "launch.ra"], ["launch.ranks="]),
        (["doctor", "--set", "launch.ra"], ["launch.ranks="]),
        (["complet"], ["completion"]),  # the command that the scripts call stays hidden
    )

    def test_the_words(self):
        for words, expected in self.CASES:
            self.assertEqual(run("complete", "--", *words).stdout.split(), expected, words)

    def test_the_words_of_a_program_are_its_own(self):
        for words in (["run", "-n", "2", "./program", "--pi"], ["run", "--", "--pi"], ["run", "-n2", "doctor", "--js"]):
            self.assertEqual(run("complete", "--", *words).stdout, "", words)

    def test_bash(self):
        for words, expected in self.CASES:
            result = subprocess.run(["bash", "-c", BASH, "bash", TOOL, *words], capture_output=True, text=True)
            self.assertEqual(result.stdout.split(), expected, (words, result.stderr))

    def test_bash_splits_at_the_equals_sign(self):
        words = ["doctor", "--set", "log.format", "=", "j"]
        result = subprocess.run(["bash", "-c", BASH, "bash", TOOL, *words], capture_output=True, text=True)
        self.assertEqual(result.stdout.split(), ["json"], result.stderr)

    def test_zsh(self):
        for words, expected in self.CASES:
            with tempfile.NamedTemporaryFile() as shown:
                result = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", TOOL, *words], capture_output=True, text=True,
                                        env={**os.environ, "RESULT": shown.name})
                found = pathlib.Path(shown.name).read_text().split()
            self.assertEqual(sorted(found), sorted(expected), (words, result.stderr))

    def test_zsh_offers_files_where_a_file_belongs(self):
        with tempfile.NamedTemporaryFile() as shown:
            subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", TOOL, "config", "check", ""], capture_output=True,
                           env={**os.environ, "RESULT": shown.name})
            self.assertEqual(pathlib.Path(shown.name).read_text().split(), ["FILES"])


if __name__ == "__main__":
    unittest.main()
