"""How a process that evaluates policies should use torch and memory."""

from __future__ import annotations

import ctypes
import sys

import torch

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
_KEPT_BYTES = 2**28
_LARGEST_ON_HEAP = 2**25


def prepare_torch() -> None:
    """One thread: more are slower on matrices as small as a policy's. And kept memory: a pass
    allocates and frees the same megabytes again and again, and giving them back to the system
    each time costs a third of it.
    """
    torch.set_num_threads(1)
    if sys.platform == "linux":
        change = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if change is not None:
            change(_M_TRIM_THRESHOLD, _KEPT_BYTES)
            change(_M_MMAP_THRESHOLD, _LARGEST_ON_HEAP)
