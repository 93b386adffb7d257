"""The layering check passes on the project and fails on every planted mistake."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1))


def check(root, layers, *more):
    return subprocess.run([sys.executable, ROOT / "dev/check-layers", "--root", root, "--layers", layers, *more],
                          capture_output=True, text=True)


class OnTheProject(unittest.TestCase):
    def test_the_walls_stand(self):
        result = check(ROOT, BUILD / "layers.json", "--build", BUILD)
        self.assertEqual(result.returncode, 0, result.stderr)


class Planted(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for part in ("src", "include", "plugins", "tools"):
            shutil.copytree(ROOT / part, self.root / part)
        self.layers = json.loads((BUILD / "layers.json").read_text())

    def plant(self, file, line):
        path = self.root / file
        path.write_text(line + "\n" + (path.read_text() if path.exists() else ""))

    def mistakes(self):
        file = self.root / "layers.json"
        file.write_text(json.dumps(self.layers))
        result = check(self.root, file)
        self.assertEqual(result.returncode, 1 if result.stderr else 0)
        return result.stderr

    def test_nothing_planted_nothing_found(self):
        self.assertEqual(self.mistakes(), "")

    def test_a_torch_header_below_the_line(self):
        self.plant("src/base/units.cpp", "#include <torch/nn.h>")
        self.assertIn("a torch-free folder reaches torch: src/base/units.cpp -> torch/nn.h", self.mistakes())

    def test_a_constant_that_hides_one_of_a_header(self):
        self.plant("src/base/log.cpp", "constexpr int kMiB = 1;")
        self.assertIn("src/base/log.cpp defines kMiB at namespace scope, as src/base/units.h does", self.mistakes())

    def test_a_torch_header_reached_through_a_public_header(self):
        self.plant("include/cohort/dtype.h", "#include <ATen/ATen.h>")
        self.assertIn("src/base/dtype.cpp -> include/cohort/dtype.h -> ATen/ATen.h", self.mistakes())

    def test_an_edge_that_cmake_does_not_declare(self):
        self.plant("src/base/units.cpp", '#include "config/config.h"')
        self.assertIn('src/base/units.cpp includes "config/config.h", but src/base/CMakeLists.txt does not declare '
                      "DEPENDS config", self.mistakes())

    def test_a_folder_of_the_library_that_depends_on_one_of_the_tools(self):
        self.plant("src/world/join.cpp", '#include "supervise/process.h"')
        self.layers["folders"]["world"]["depends"].append("supervise")
        self.assertIn("src/world is part of the library but declares DEPENDS supervise, a folder of tools/", self.mistakes())

    def test_an_edge_of_the_tools_that_cmake_does_not_declare(self):
        self.plant("tools/measure/pattern.cpp", '#include "machine/survey.h"')
        self.assertIn('tools/measure/pattern.cpp includes "machine/survey.h", but tools/measure/CMakeLists.txt does not declare '
                      "DEPENDS machine", self.mistakes())

    def test_a_circle(self):
        self.plant("src/base/units.cpp", '#include "config/config.h"')
        self.layers["folders"]["base"]["depends"].append("config")
        self.assertIn("in a circle: base -> config -> base", self.mistakes())

    def test_a_cycle_between_rooms(self):
        self.plant("src/comm/transport/frame.cpp", '#include "comm/exchange/exchange.h"')
        self.assertIn('src/comm/transport/frame.cpp includes "comm/exchange/exchange.h", but the ROOMS of '
                      "src/comm/CMakeLists.txt have exchange after transport", self.mistakes())

    def test_a_room_that_cmake_does_not_declare(self):
        (self.root / "src/comm/stray").mkdir()
        self.plant("src/comm/stray/stray.h", "#pragma once")
        self.assertIn("src/comm/CMakeLists.txt does not declare ROOMS stray, but src/comm/stray has source files",
                      self.mistakes())

    def test_a_file_outside_of_the_rooms(self):
        self.plant("src/comm/stray.h", "#pragma once")
        self.assertIn("does not declare ROOMS ., but src/comm/. has source files", self.mistakes())

    def test_a_declared_room_without_files(self):
        self.layers["folders"]["comm"]["rooms"].append("attic")
        self.assertIn("declares ROOMS attic, but src/comm/attic has no source files", self.mistakes())

    def test_a_declared_edge_that_nobody_uses(self):
        self.layers["folders"]["base"]["depends"].append("storage")
        self.assertIn("declares DEPENDS storage, but no file of src/base includes it", self.mistakes())

    def test_a_torch_free_folder_that_depends_on_one_with_torch(self):
        self.plant("src/config/load.cpp", '#include "tensor/scalar_type.h"')
        self.layers["folders"]["config"]["depends"].append("tensor")
        self.assertIn("src/config is torch-free but declares DEPENDS tensor", self.mistakes())

    def test_a_public_header_that_shows_a_private_one(self):
        self.plant("include/cohort/error.h", '#include "base/result.h"')
        self.assertIn("include/cohort/error.h is public but includes the private", self.mistakes())

    def test_a_header_of_the_library_that_only_the_tools_read(self):
        self.plant("src/base/stray.h", "#pragma once")
        self.plant("src/base/stray.cpp", '#include "base/stray.h"')
        self.plant("tools/measure/pattern.cpp", '#include "base/stray.h"')
        self.assertEqual(self.mistakes(), "layers: only files of tools/ include src/base/stray.h\n")

    def test_a_header_of_the_library_that_nobody_reads(self):
        self.plant("src/base/stray.h", "#pragma once")
        self.plant("src/base/stray.cpp", '#include "base/stray.h"')
        self.assertEqual(self.mistakes(), "layers: no file of the library or of the tools includes src/base/stray.h\n")

    def test_an_exception_without_need(self):
        self.plant("src/base/units.cpp", '#include "comm/schedule/neighbour.h"')
        self.assertIn("names src/comm/schedule/neighbour.h in READ_ELSEWHERE without need", self.mistakes())

    def test_a_public_header_that_the_header_of_all_lacks(self):
        self.plant("include/cohort/new.h", "#pragma once")
        self.assertIn("include/cohort/cohort.h does not include <cohort/new.h>", self.mistakes())

    def test_a_library_that_prints_or_ends_the_process(self):
        lines = {"base/error.cpp": "std::cerr << 1;", "base/units.cpp": "std::fputs(text, stderr);", "base/log.cpp": "if (bad) ::_exit(1);",
                 "config/load.cpp": "exit(1);", "state/run_directory.cpp": "std::terminate();"}
        for file, line in lines.items():
            self.plant(f"src/{file}", line)
        self.plant("src/base/random.cpp", "group_->abort(error); process.exit(); Group::abort(why); abort(cause);")
        found = self.mistakes()
        for file in lines:
            self.assertIn(f"src/{file} has ", found)
        self.assertNotIn("src/base/random.cpp", found)

    def test_a_folder_that_cmake_does_not_know(self):
        (self.root / "src/stray").mkdir()
        self.assertIn("src/stray is no folder that CMake declares", self.mistakes())


if __name__ == "__main__":
    unittest.main()
