"""Plumbline's window: imports the engine, holds no planning logic."""
