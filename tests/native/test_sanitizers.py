"""The kernels under AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "sanitize"
TOOLS = Path(sys.executable).parent


def run(*command: str | Path) -> str:
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=1800, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.long
@pytest.mark.skipif(
    not any(map(shutil.which, (os.environ.get("CXX", ""), "c++", "g++", "clang++"))),
    reason="the sanitizers come with a system compiler, and there is none",
)
def test_kernels_touch_only_their_own_memory() -> None:
    options = ("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}", "-DPLUMBLINE_SANITIZE=ON")
    run(TOOLS / "cmake", "-S", ROOT / "engine" / "native", "-B", BUILD, *options)
    run(TOOLS / "cmake", "--build", BUILD, "--target", "kernel_tests")
    assert run(BUILD / "kernel_tests") == "150 tasks\n"
