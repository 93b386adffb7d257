"""Tests the choice of a libtorch and the errors without one. The folders hold only the files that the choice looks at."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = sys.argv.pop(1)

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(choice LANGUAGES CXX)
{before}
include({root}/cmake/CohortLibtorch.cmake)
cohort_find_libtorch(MINIMUM 2.13)
message(STATUS "chosen ${{COHORT_LIBTORCH_ROOT}} ${{COHORT_LIBTORCH_VERSION}}")
{after}
"""

VERSION = """#define TORCH_VERSION_MAJOR {}
#define TORCH_VERSION_MINOR {}
#define TORCH_VERSION_PATCH {}
"""


def make_libtorch(root, version="2.13.0", header="include/torch/headeronly/version.h"):
    for name in ("lib/libtorch_cpu.so", "lib/libc10.so", "include/ATen/ATen.h", header):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / header).write_text(VERSION.format(*version.split(".")))
    return root.resolve()


class Choice(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = pathlib.Path(scratch.name)
        (self.dir / "project").mkdir()
        self.write_project()
        # A python3 without torch, unless a test sets one.
        self.set_python_torch("")

    def write_project(self, before="", after=""):
        (self.dir / "project/CMakeLists.txt").write_text(PROJECT.format(root=ROOT, before=before, after=after))

    def set_python_torch(self, folder):
        fake = self.dir / "bin/python3"
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(f"#!/bin/sh\necho '{folder}'\n")
        fake.chmod(0o755)

    def configure(self, *definitions, **environment):
        clean = {name: value for name, value in os.environ.items()
                 if name not in ("COHORT_LIBTORCH", "CMAKE_PREFIX_PATH", "VIRTUAL_ENV")}
        clean["PATH"] = f"{self.dir / 'bin'}:{clean['PATH']}"
        result = subprocess.run(["cmake", "-S", self.dir / "project", "-B", self.dir / "build", "-G", "Ninja",
                                 f"-DCMAKE_CXX_COMPILER={COMPILER}", *definitions],
                                capture_output=True, text=True, env={**clean, **environment})
        return result.returncode, " ".join((result.stdout + result.stderr).split())

    def assert_chosen(self, root, why, outcome):
        code, text = outcome
        self.assertEqual(code, 0, text)
        self.assertIn(f"libtorch 2.13.0 (cpu) in {root}: {why}", text)
        self.assertIn(f"chosen {root} 2.13.0", text)

    def test_named_as_a_variable_of_cmake(self):
        root = make_libtorch(self.dir / "libtorch")
        self.assert_chosen(root, "named by COHORT_LIBTORCH", self.configure(f"-DCOHORT_LIBTORCH={root}"))

    def test_named_in_the_environment_and_above_everything_else(self):
        root = make_libtorch(self.dir / "libtorch")
        other = make_libtorch(self.dir / "other")
        outcome = self.configure(f"-DCMAKE_PREFIX_PATH={other}", COHORT_LIBTORCH=str(root))
        self.assert_chosen(root, "named by COHORT_LIBTORCH", outcome)

    def test_a_name_that_is_wrong_is_not_passed_over(self):
        make_libtorch(self.dir / "other")
        code, text = self.configure("-DCOHORT_LIBTORCH=/nowhere", f"-DCMAKE_PREFIX_PATH={self.dir / 'other'}")
        self.assertEqual(code, 1)
        self.assertIn("COHORT_LIBTORCH is '/nowhere', but there is no libtorch there", text)

    def test_an_entry_of_the_prefix_path(self):
        root = make_libtorch(self.dir / "site-packages/torch")
        for entry in (root, root.parent, root / "share/cmake", root / "share/cmake/Torch"):
            entry.mkdir(parents=True, exist_ok=True)
            self.assert_chosen(root, "named by CMAKE_PREFIX_PATH", self.configure(f"-DCMAKE_PREFIX_PATH=/opt;{entry}"))
        self.assert_chosen(root, "named by CMAKE_PREFIX_PATH", self.configure("-DCMAKE_PREFIX_PATH=",
                                                                             CMAKE_PREFIX_PATH=f"/opt:{root}"))

    def test_the_venv_of_the_project_before_the_active_python(self):
        root = make_libtorch(self.dir / "venv/lib/python3.11/site-packages/torch")
        self.set_python_torch(make_libtorch(self.dir / "elsewhere/torch"))
        self.assert_chosen(root, "in the project's .venv", self.configure(f"-DCOHORT_PROJECT_VENV={self.dir / 'venv'}"))

    def test_what_an_installed_cohort_was_built_against(self):
        root = make_libtorch(self.dir / "libtorch")
        self.assert_chosen(root, "the libtorch of this Cohort",
                           self.configure(f"-DCOHORT_BUILT_AGAINST={root}"))

    def make_torch_package(self, root):
        """Makes the file that find_package(Torch) looks for in a libtorch."""
        config = root / "share/cmake/Torch/TorchConfig.cmake"
        config.parent.mkdir(parents=True)
        config.write_text("set(TORCH_LIBRARIES torch)\n")
        return config.parent

    def test_two_libtorchs_in_one_build_are_an_error_whoever_comes_first(self):
        ours, theirs = make_libtorch(self.dir / "ours"), make_libtorch(self.dir / "theirs")
        package = self.make_torch_package(theirs)
        subfolder = self.dir / "project/part"
        subfolder.mkdir()
        (subfolder / "CMakeLists.txt").write_text("find_package(Torch REQUIRED)\n")
        for project in ({"before": "find_package(Torch REQUIRED)"}, {"after": "find_package(Torch REQUIRED)"},
                        {"after": "add_subdirectory(part)"}):
            self.write_project(**project)
            code, text = self.configure(f"-DCOHORT_LIBTORCH={ours}", f"-DTorch_DIR={package}")
            self.assertEqual(code, 1, project)
            self.assertIn(f"Two libtorchs in one build: find_package(Torch) found {theirs}, and Cohort uses {ours}.", text)
            self.assertIn(f"-D COHORT_LIBTORCH={theirs}", text)
            # The remedy helps; so does not to look for Torch, though CMake still knows its place.
            self.assertEqual(self.configure(f"-DCOHORT_LIBTORCH={theirs}", f"-DTorch_DIR={package}")[0], 0, project)
            self.write_project()
            self.assertEqual(self.configure(f"-DCOHORT_LIBTORCH={ours}", f"-DTorch_DIR={package}")[0], 0, project)

    def test_another_version_than_an_installed_cohort_was_built_with_is_an_error(self):
        root = make_libtorch(self.dir / "libtorch", "2.13.1")
        code, text = self.configure(f"-DCOHORT_LIBTORCH={root}", "-DCOHORT_BUILT_WITH_VERSION=2.13.0")
        self.assertEqual(code, 1)
        self.assertIn("is 2.13.1, but this Cohort was built with 2.13.0.", text)
        self.assertEqual(self.configure(f"-DCOHORT_LIBTORCH={root}", "-DCOHORT_BUILT_WITH_VERSION=2.13.1")[0], 0)

    def install(self, root, how):
        text = f"include({ROOT}/cmake/CohortInstallLibtorch.cmake)\ncohort_install_libtorch({root} lib/cohort/libtorch {how})"
        self.write_project(after=text)
        self.assertEqual(self.configure(f"-DCOHORT_LIBTORCH={root}")[0], 0)
        subprocess.run(["cmake", "--install", self.dir / "build", "--prefix", self.dir / "prefix"], check=True, capture_output=True)
        return self.dir / "prefix/lib/cohort/libtorch"

    def test_an_installation_has_a_link_or_a_copy_and_leaves_the_original_alone(self):
        root = make_libtorch(self.dir / "libtorch")
        (root / "lib/libtorch_python.so").touch()
        before = sorted(root.rglob("*"))
        for how in ("LINK", "COPY", "LINK"):  # each replaces the one before
            installed = self.install(root, how)
            self.assertEqual(installed.is_symlink(), how == "LINK")
            self.assertTrue((installed / "include/torch/headeronly/version.h").is_file())
            self.assertTrue((installed / "lib/libtorch_cpu.so").is_file())
            self.assertEqual((installed / "lib/libtorch_python.so").exists(), how == "LINK")
            self.assertEqual(sorted(root.rglob("*")), before)

    def test_the_active_python(self):
        root = make_libtorch(self.dir / "elsewhere/torch")
        self.set_python_torch(root)
        self.assert_chosen(root, "the torch of the active Python", self.configure())

    def test_none_at_all(self):
        code, text = self.configure()
        self.assertEqual(code, 1)
        self.assertIn("No libtorch found. Run `make setup`", text)

    def test_an_older_one_is_refused_with_the_remedy(self):
        for version, header in (("2.12.1", "include/torch/headeronly/version.h"),
                                ("2.4.0", "include/torch/csrc/api/include/torch/version.h")):
            root = make_libtorch(self.dir / version, version, header)
            code, text = self.configure(f"-DCOHORT_LIBTORCH={root}")
            self.assertEqual(code, 1)
            self.assertIn(f"is {version}; Cohort needs 2.13 or newer. Upgrade it with `pip install", text)

    def test_one_that_does_not_say_its_version(self):
        root = make_libtorch(self.dir / "libtorch")
        (root / "include/torch/headeronly/version.h").write_text("")
        code, text = self.configure(f"-DCOHORT_LIBTORCH={root}")
        self.assertEqual(code, 1)
        self.assertIn("has no version header", text)

    def test_a_cuda_build_without_its_two_libraries(self):
        root = make_libtorch(self.dir / "libtorch")
        (root / "lib/libtorch_cuda.so").touch()
        (root / "version.py").write_text("cuda: Optional[str] = '13.0'\n")
        empty = self.dir / "empty.c"
        empty.write_text("")
        compile_shared = [COMPILER.replace("++", ""), "-x", "c", empty, "-shared", "-nostdlib", "-Wl,--no-as-needed", "-o"]
        subprocess.run([*compile_shared, root / "lib/libcohort_stand_in.so.13", "-Wl,-soname,libcohort_stand_in.so.13"], check=True)
        subprocess.run([*compile_shared, root / "lib/libtorch_cpu.so", "-Wl,-rpath,$ORIGIN", "-x", "none",
                        root / "lib/libcohort_stand_in.so.13"], check=True)
        self.assertEqual(self.configure(f"-DCOHORT_LIBTORCH={root}")[0], 0)
        (root / "lib/libcohort_stand_in.so.13").rename(root / "hidden")
        code, text = self.configure(f"-DCOHORT_LIBTORCH={root}")
        self.assertEqual(code, 1)
        self.assertIn("pip install --no-deps 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cupti==13.0.*'", text)


if __name__ == "__main__":
    unittest.main()
