"""libcohort.so holds no code that only the tools use."""

import json
import pathlib
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1))
LIBRARY = BUILD / "lib/libcohort.so"

# Functions of src/ that only the tools call; the link leaves them out.
CALLED_BY_TOOLS = {
    "cohort::open_data(": "src/data/open.h",
    "cohort::config::with_keys": "src/config/option_keys.h",
    "cohort::config::make_keys(": "src/config/keys.h",
    "cohort::config::doctor_keys(": "src/config/sections.h",
    "cohort::config::launch_keys(": "src/config/sections.h",
    "cohort::records::open_images(": "src/records/labelled_images.h",
}


def symbols(file, *options):
    """Pairs of type and name, as `nm` prints them."""
    lines = subprocess.run(["nm", "--defined-only", *options, file], capture_output=True, text=True, check=True).stdout
    return [tuple(line.split(maxsplit=2)[1:]) for line in lines.splitlines() if len(line.split(maxsplit=2)) == 3]


class Library(unittest.TestCase):
    def test_no_symbol_of_a_folder_of_tools(self):
        held = {name for _, name in symbols(LIBRARY)}
        self.assertIn("_ZN6cohort7ContextC1ERKNS_14ContextOptionsE", held, "the library has symbols to look at")
        folders = json.loads((BUILD / "layers.json").read_text())["folders"]
        tools = [name for name, folder in folders.items() if folder["root"] == "tools"]
        self.assertGreater(len(tools), 3)
        for folder in tools:
            # Upper case: one definition in the whole program. Inline functions of headers have other letters.
            own = {name for kind, name in symbols(BUILD / f"lib/libcohort_{folder}.a") if kind in "TDBR"}
            self.assertTrue(own, folder)
            self.assertEqual(own & held, set(), f"code of tools/{folder}")

    def test_no_function_of_the_library_that_only_tools_call(self):
        held = [name for _, name in symbols(LIBRARY, "-C")]
        everything = [name for archive in (BUILD / "lib").glob("libcohort_*.a") for _, name in symbols(archive, "-C")]
        for function, header in CALLED_BY_TOOLS.items():
            self.assertTrue(any(name.startswith(function) for name in everything), f"{header} has no {function} any more")
            self.assertEqual([name for name in held if name.startswith(function)], [], header)


if __name__ == "__main__":
    unittest.main()
