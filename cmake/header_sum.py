"""Writes a checksum of the compiler's version and of all files that a header includes. The compiler cache hashes it instead of the
precompiled header, which contains the path of its clone.

Usage: header_sum.py OUTPUT HEADER COMPILER ARGUMENTS…
"""

import hashlib
import pathlib
import subprocess
import sys


def main():
    output, header, *compiler = sys.argv[1:]
    make_rule = subprocess.run([*compiler, "-M", "-x", "c++-header", header], capture_output=True, text=True, check=True).stdout
    files = make_rule.partition(":")[2].replace("\\\n", " ").split()
    version = subprocess.run([compiler[0], "--version"], capture_output=True, check=True).stdout
    total = hashlib.sha256(version)
    for name in files:
        total.update(hashlib.sha256(pathlib.Path(name).read_bytes()).digest())
    text = total.hexdigest() + "\n"
    path = pathlib.Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
