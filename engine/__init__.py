"""Plumbline's engine: everything that computes, importable without a window."""

import os

__version__ = "0.2.0"

# Before numpy is imported: on a busy machine the threads of its products wait for each other far
# longer than they compute, and a process without threads can be forked.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
