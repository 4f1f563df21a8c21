"""A worker that may call the functions of `background_work` as well."""

from __future__ import annotations

from engine.workers import worker

if __name__ == "__main__":
    worker.CALLABLE += ("reference.background_work:",)
    worker.main()
