"""Runs one golden case: `<case>.cmd` holds the arguments of the tool, `<case>.txt` its exit code and output.

The folder of the case, where the tool is started, is written as <folder>.

With COHORT_WRITE_GOLDEN=1 the file is written instead of compared."""

import os
import pathlib
import shlex
import subprocess
import sys

tool, case = sys.argv[1], pathlib.Path(sys.argv[2])
arguments = shlex.split(case.with_suffix(".cmd").read_text())
result = subprocess.run([tool, *arguments], cwd=case.parent, capture_output=True, text=True, timeout=30)
output, error_output = (text.replace(str(case.parent), "<folder>") for text in (result.stdout, result.stderr))
actual = f"exit code {result.returncode}\n--- out\n{output}--- err\n{error_output}"
golden = case.with_suffix(".txt")
if os.environ.get("COHORT_WRITE_GOLDEN") == "1":
    golden.write_text(actual)
elif golden.read_text() != actual:
    sys.exit(f"{golden.name} holds\n{golden.read_text()}\nbut the tool gave\n{actual}")
print("1 case is as it should be")
