"""Make this checkout ready to run: system packages, `.venv`, pinned packages, native kernels.

Needs nothing but Python's standard library, does only what is missing, and is done in a moment
when nothing is. Where it may not install a system package it prints the one command to type.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
CONSTRAINTS = ROOT / "constraints.txt"
STAMP = VENV / "plumbline-stamp"
NATIVE_BUILD = ROOT / "build" / "native"
BUILD_TOOLS = ["scikit-build-core", "cmake", "ninja"]
COMPILERS = ["c++", "g++", "clang++"]
OLDEST_PYTHON = (3, 11)
WINDOW_LIBRARIES = {
    "libglib2.0-0": "libglib-2.0.so.0",
    "libegl1": "libEGL.so.1",
    "libgl1": "libGL.so.1",
    "libxkbcommon0": "libxkbcommon.so.0",
    "libfontconfig1": "libfontconfig.so.1",
    "libdbus-1-3": "libdbus-1.so.3",
}
X11_LIBRARIES = {
    "libxkbcommon-x11-0": "libxkbcommon-x11.so.0",
    "libxcb-cursor0": "libxcb-cursor.so.0",
    "libxcb-icccm4": "libxcb-icccm.so.4",
    "libxcb-keysyms1": "libxcb-keysyms.so.1",
    "libxcb-shape0": "libxcb-shape.so.0",
}
FONT_FOLDERS = [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".fonts"]


def say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


def fail(text: str) -> None:
    say(text)
    sys.exit(1)


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=ROOT, env=env, check=False)
    if result.returncode != 0:
        fail(f"this command failed, see above: {' '.join(words)}")


def missing_system_packages() -> list[str]:
    """Debian packages without which nothing works."""
    packages = [] if importlib.util.find_spec("ensurepip") else ["python3-venv"]
    packages += [package for package, name in WINDOW_LIBRARIES.items() if not has_library(name)]
    if not any(any(folder.rglob("*.[to]tf")) for folder in FONT_FOLDERS if folder.is_dir()):
        packages.append("fonts-dejavu-core")
    return packages


def missing_display_packages() -> list[str]:
    """Debian packages for a real window, and for a screen in memory when testing one."""
    packages = [package for package, name in X11_LIBRARIES.items() if not has_library(name)]
    return packages if shutil.which("Xvfb") else [*packages, "xvfb"]


def has_library(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def install_system_packages(packages: list[str]) -> bool:
    """Whether it worked; where it may not be tried, the one command to type is printed."""
    command = f"apt-get update && apt-get install -y --no-install-recommends {' '.join(packages)}"
    is_root = os.geteuid() == 0
    may_sudo = (
        shutil.which("sudo") is not None
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    )
    if shutil.which("apt-get") is None or not (is_root or may_sudo):
        say(f"system packages are missing; install them with: sudo sh -c '{command}'")
        return False
    say(f"installing {' '.join(packages)}")
    words = ["env", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", command]
    if subprocess.run([*([] if is_root else ["sudo"]), *words], check=False).returncode == 0:
        return True
    say(f"this command failed, see above: {command}")
    return False


def fingerprint() -> str:
    """Changes when the packages would: another Python, other pins, other project metadata."""
    digest = hashlib.sha256(sys.version.encode())
    for path in (CONSTRAINTS, ROOT / "pyproject.toml", Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compiler_environment() -> dict[str, str]:
    """The environment of a native build; without a system compiler the `ziglang` package serves."""
    environment = dict(os.environ, CMAKE_GENERATOR="Ninja")
    environment["PATH"] = f"{VENV / 'bin'}{os.pathsep}{environment['PATH']}"
    if "CXX" in environment or any(shutil.which(name) for name in COMPILERS):
        return environment
    say("no C++ compiler found, using the ziglang package")
    pip_install("ziglang")
    wrapper = VENV / "bin" / "zig-c++"
    wrapper.write_text(f'#!/bin/sh\nexec "{PYTHON}" -m ziglang c++ "$@"\n')
    wrapper.chmod(0o755)
    environment["CXX"] = str(wrapper)
    return environment


def pip_install(*arguments: str, env: dict[str, str] | None = None) -> None:
    options = ["--disable-pip-version-check", "--quiet", "--constraint", str(CONSTRAINTS)]
    run(PYTHON, "-m", "pip", "install", *options, *arguments, env=env)


def install_packages() -> None:
    if not PYTHON.exists():
        say("creating .venv")
        run(sys.executable, "-m", "venv", "--clear", VENV)
    say("installing pinned packages and building the kernels (a few minutes, once)")
    pip_install(*BUILD_TOOLS)
    shutil.rmtree(NATIVE_BUILD, ignore_errors=True)
    environment = compiler_environment()
    pip_install("--no-build-isolation", "--editable", f"{ROOT}[dev]", env=environment)


def rebuild_kernels() -> None:
    """Takes milliseconds when no source changed."""
    ninja = VENV / "bin" / "ninja"
    result = subprocess.run(
        [ninja, "-C", NATIVE_BUILD], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        sys.stderr.write(result.stdout + result.stderr)
        fail("the native kernels did not build, see above; 'make clean' and try again")


def main() -> None:
    if sys.version_info < OLDEST_PYTHON:
        fail(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    wanted = fingerprint()
    if STAMP.exists() and STAMP.read_text() == wanted and (NATIVE_BUILD / "build.ninja").exists():
        rebuild_kernels()
        return
    packages = missing_system_packages()
    if packages and not install_system_packages(packages):
        sys.exit(1)
    display = missing_display_packages()
    if display and not install_system_packages(display):
        say("going on without them: there will be no window on a screen, all else works")
    install_packages()
    STAMP.write_text(wanted)
    say("ready")


if __name__ == "__main__":
    main()
