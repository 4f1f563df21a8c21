"""Threads that learn the same records at the same time; it once crashed the process."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from threading import Barrier, Thread
from types import ModuleType

from engine.records.codec import check, decode, encode
from engine.workers.channel import pack, unpack

DEPTH = 12
sys.setswitchinterval(1e-6)


def new_records(name):
    "Nested records that nobody has read or written yet."
    text = "from __future__ import annotations\\nfrom engine.records.codec import Record\\n"
    text += "class C0(Record):\\n    x: int = 0\\n"
    for depth in range(1, DEPTH):
        inner = f"C{depth - 1}"
        text += f"class C{depth}(Record):\\n    a: {inner}\\n    b: tuple[{inner}, ...]\\n"
    sys.modules[name] = module = ModuleType(name)
    exec(text, module.__dict__)
    return [getattr(module, f"C{depth}") for depth in range(DEPTH)]


for number in range(30):
    first, *others = new_records(f"engine.made{number}")
    values = [first()]
    for kind in others:
        values.append(kind(values[-1], (values[-1],)))
    part, whole = values[-2:]
    packed, text, ready = pack(whole), encode(part), Barrier(3)
    read = []

    def later(work):
        ready.wait()
        read.append(work())

    works = (lambda: unpack(packed), lambda: decode(text, type(part)), lambda: check(part))
    threads = [Thread(target=later, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read) == 3 and read.count(part) == 2 and whole in read
"""


def test_records_are_learned_by_one_thread_at_a_time() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=300)
