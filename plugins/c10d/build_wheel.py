"""Builds the wheel of cohort_c10d. Called by pip for `pip install ./plugins/c10d`, and by `make python`.

CMake compiles the extension module against the torch of the Python that runs this script. COHORT_BUILD names a
configured build folder; without it the script configures one in build/ of the project."""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAME = "cohort_c10d"


def version():
    return re.search(r"project\(cohort VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def torch_folder():
    for scheme in ("purelib", "platlib"):
        folder = pathlib.Path(sysconfig.get_path(scheme)) / "torch"
        if (folder / "lib" / "libtorch_python.so").exists():
            return folder
    sys.exit(f"no torch with libtorch_python.so in the packages of {sys.executable}: run pip install 'torch==2.13.*' first")


def configure():
    folder = ROOT / "build" / f"wheel-cp{sys.version_info.major}{sys.version_info.minor}"
    command = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja" if shutil.which("ninja") else "Unix Makefiles", "-DCMAKE_BUILD_TYPE=Release",
               "-DBUILD_TESTING=OFF", f"-DCOHORT_PYTHON={sys.executable}", f"-DCOHORT_LIBTORCH={torch_folder()}"]
    if shutil.which("clang++-14"):
        command.append("-DCMAKE_CXX_COMPILER=clang++-14")
    subprocess.run(command, check=True)
    return folder


def compiled_package():
    """Compiles the package and returns its folder."""
    folder = pathlib.Path(os.environ["COHORT_BUILD"]) if "COHORT_BUILD" in os.environ else configure()
    jobs = subprocess.run([ROOT / "dev" / "jobs"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["cmake", "--build", folder, "--parallel", jobs, "--target", "cohort_c10d"], check=True)
    return folder / "python" / NAME


def metadata():
    return f"""Metadata-Version: 2.1
Name: cohort-c10d
Version: {version()}
Summary: Cohort's communicator as a backend of torch.distributed, for CPU tensors
License: Apache-2.0
Requires-Python: =={sys.version_info.major}.{sys.version_info.minor}.*
Requires-Dist: torch ==2.13.*
"""


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-linux_{platform.machine()}"


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def write_wheel(package, folder):
    info = f"{NAME}-{version()}.dist-info"
    contents = {f"{NAME}/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.suffix in (".py", ".so")}
    contents[f"{info}/METADATA"] = metadata().encode()
    contents[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cohort\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    contents[f"{info}/entry_points.txt"] = f"[torch.backends]\n{NAME} = {NAME}:register\n".encode()
    contents[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(record_line(name, data) for name, data in contents.items()) + f"{info}/RECORD,,\n"
    contents[f"{info}/RECORD"] = record.encode()
    name = f"{NAME}-{version()}-{tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in contents.items():
            wheel.writestr(path, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(compiled_package(), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("cohort_c10d is built inside Cohort's source tree: build a wheel instead")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    target.mkdir(parents=True, exist_ok=True)
    print(target / build_wheel(target))
