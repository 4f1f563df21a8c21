"""A workspace keeps comparisons of domains, with both texts as they were."""

from __future__ import annotations

import os
import re
from pathlib import Path

from engine.campaign.inputs import File
from engine.campaign.schema import MIGRATIONS
from engine.campaign.store import Store
from engine.campaign.workspace_file import open_workspace


def test_comparisons_are_kept(tmp_path: Path) -> None:
    a = File("a.pddl", b"(define (domain a))", "/home/me/a.pddl")
    b = File("b.pddl", b"(define (domain b))", "/home/me/b.pddl")
    question, answer = {"parameters": ["pddl"]}, {"pddl": {"verdict": "equivalent"}}
    path = tmp_path / "w.plumb"
    with Store.create(path) as store:
        first = store.add_comparison(a, b, question, answer)
        second = store.add_comparison(b, a, question, {})
    with Store.open(path) as store:
        assert [row.id for row in store.comparisons()] == [first, second]
        kept = store.comparison(first)
        assert (kept.a, kept.b) == (a, b)
        assert (kept.row.question, kept.row.answer) == (question, answer)
        assert (kept.row.name_a, kept.row.name_b) == (a.path, b.path)


def test_an_old_workspace_that_may_not_be_written_has_none(tmp_path: Path) -> None:
    path = tmp_path / "w.plumb"
    connection = open_workspace(path, create=True)
    connection.execute("DROP TABLE comparisons")
    number = next(n for n, text in enumerate(MIGRATIONS) if "TABLE comparisons" in text)
    for text in MIGRATIONS[number + 1 :]:
        for name in re.findall(r"CREATE TABLE (\w+)", text):
            connection.execute(f"DROP TABLE {name}")
    connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    if os.geteuid() != 0:  # root may write whatever the mode says
        path.chmod(0o444)
        with Store.open(path) as store:
            assert store.comparisons() == []
        path.chmod(0o644)
    with Store.open(path) as store:
        assert store.comparisons() == []
        assert store.rows("SELECT count(*) FROM comparisons") == [(0,)]


def test_a_training_is_told_anew(tmp_path: Path) -> None:
    with Store.create(tmp_path / "w.plumb") as store:
        store.save_training("/a", {"epochs": 1})
        store.save_training("/b", {"epochs": 1})
        store.save_training("/a", {"epochs": 2})
        assert store.trainings() == {"/a": {"epochs": 2}, "/b": {"epochs": 1}}
