"""The program that a `Translator` starts: it has imported the translator and forks per problem.

Run by its path with `python -P`; the engine never imports it. It answers each line
`MEMORY SECONDS FOLDER` (0: no limit) on its standard input with the status of the process that
translated the files in the folder, `os.waitpid`'s. Options of the translator are its arguments.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import sys
import traceback
from types import ModuleType

OUTPUT = "output.txt"
OUT_OF_MEMORY = 20  # the codes of the translator's own main program
INPUT_ERROR = 31
RESERVE_BYTES = 10**7
_PR_SET_PDEATHSIG = 1


def main() -> None:
    from fast_downward.translate import main as translator
    from fast_downward.translate import options

    _die_with_parent(int(sys.argv[1]))
    options.set_options([*sys.argv[2:], "domain.pddl", "problem.pddl"])
    gc.freeze()  # a collection must not copy what the processes share
    own = os.getpid()
    for request in iter(sys.stdin.buffer.readline, b""):
        memory, seconds, folder = request.rstrip(b"\n").split(b" ", 2)
        child = os.fork()
        if not child:
            _die_with_parent(own)
            os._exit(_translate(translator, folder, int(memory), float(seconds)))
        _, status = os.waitpid(child, 0)
        os.write(1, b"%d\n" % status)


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _translate(translator: ModuleType, folder: bytes, memory: int, seconds: float) -> int:
    """Translate in a fork, so that limits strike it alone and nothing is carried over."""
    code = 0
    reserve = b"x" * RESERVE_BYTES  # to say that there is no more
    try:
        os.chdir(folder)
        output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for descriptor in (1, 2):
            os.dup2(output, descriptor)
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if seconds:
            signal.setitimer(signal.ITIMER_REAL, seconds)  # SIGALRM ends it
        translator.main()
    except MemoryError:
        del reserve
        print("MemoryError")
        code = OUT_OF_MEMORY
    except translator.pddl_parser.ParseError as error:
        print(error)
        code = INPUT_ERROR
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 1
    return code


if __name__ == "__main__":
    main()
