"""Plumbline's engine: everything that computes, importable without a window."""

__version__ = "0.2.0"
