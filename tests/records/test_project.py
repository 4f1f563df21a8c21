"""The project of a workspace is kept as it was, and files join and leave it in good order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DamagedRecordError
from engine.records.codec import decode, encode
from engine.records.config import CampaignConfig
from engine.records.project import Project
from engine.workspace.workspace import Workspace

names_of_files = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5
)
names = st.lists(names_of_files, max_size=4).map(tuple)
policies = st.lists(names_of_files.map("./{}.pt".format), max_size=4).map(tuple)
projects = st.builds(
    Project,
    domain=st.none() | names_of_files,
    problems=names,
    policies=policies,
    portfolio=policies,
    unit_costs=st.booleans(),
)


@given(projects)
def test_a_project_comes_back_as_it_was(project: Project) -> None:
    assert decode(encode(project), Project) == project


def test_a_workspace_keeps_its_project(
    tmp_path: Path, configure: Callable[..., CampaignConfig]
) -> None:
    path = tmp_path / "w.plumb"
    with Workspace.create(path) as store:
        assert store.project() == Project()
        assert store.project().is_empty
        project = Project("d", ("p",), ("builtin:gc",), draft=configure())
        store.set_project(Project("other"))
        store.set_project(project)
    with Workspace.open(path) as store:
        assert store.project() == project
        assert not store.project().is_empty


def test_files_join_once_and_leave_whatever_they_are() -> None:
    project = Project("d1", ("a", "b"), ("x",))
    more = project.with_files(domain="d2", problems=["b", "c"], policies=["x", "y"])
    assert (more.domain, more.problems, more.policies) == ("d2", ("a", "b", "c"), ("x", "y"))
    less = more.without(["d2", "a", "y", "unknown"])
    assert (less.domain, less.problems, less.policies) == (None, ("b", "c"), ("x",))
    assert less.with_files(problems=["a"]).domain is None


def test_a_workspace_cannot_say_what_is_to_be_trusted() -> None:
    document = json.loads(encode(Project("d"))) | {"trusted": ["0" * 64]}
    with pytest.raises(DamagedRecordError, match="trusted"):
        decode(json.dumps(document), Project)
