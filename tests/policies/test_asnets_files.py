"""Policy files of action schema networks: good ones, broken ones and hostile ones."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import PolicyError
from engine.pddl import parse_domain
from engine.pddl.model import Domain
from engine.policies.asnets.checkpoint import read_checkpoint, save_checkpoint
from engine.policies.asnets.cpddl_file import read_cpddl_file
from engine.policies.asnets.network import Asnets
from engine.policies.asnets.relatedness import relate
from engine.policies.asnets.weights import Part
from engine.policies.policy import open_policy
from engine.policies.torch_file import load_checkpoint
from engine.task.task import Task

Write = Callable[..., Path]
KEY = (1, 0, 2)  # the matrix of `leave` in the second layer


def test_what_the_file_says(write_policy: Write, domain: Domain) -> None:
    info = open_policy(str(write_policy(domain)), domain).describe()
    assert (info.kind, info.domain) == ("asnets", "couriers")
    assert info.details["actions"] == ["go", "take", "leave", "hand-over"]
    assert info.details["predicates"] == ["link", "at", "lies", "holds", "idle", "noted"]
    assert (info.details["epoch"], info.details["success_rate"]) == (3, 0.5)
    json.dumps(dict(info.details))


def test_matrices_are_stored_by_column(write_policy: Write, domain: Domain) -> None:
    taken: dict[str, bytes] = {}
    path = write_policy(domain, change=lambda rows: taken.update(blob=rows[KEY][1]))
    flat = np.frombuffer(taken["blob"], dtype="<f4")
    weight = read_cpddl_file(path).modules[Part.ACTION, 1, 2].weight
    assert weight[1, 0] == flat[1]
    assert weight[0, 1] == flat[weight.shape[0]]


def test_reading_leaves_no_trace(write_policy: Write, domain: Domain) -> None:
    path = write_policy(domain)
    path.chmod(0o400)
    before = (path.read_bytes(), sorted(path.parent.iterdir()))
    open_policy(str(path), domain)
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before


def test_a_name_that_looks_like_a_database_address(write_policy: Write, domain: Domain) -> None:
    path = write_policy(domain, name="a?mode=rwc&b#c%20.policy")
    assert open_policy(str(path)).describe().domain == "couriers"


def spoil_name(rows: dict) -> None:
    rows[KEY] = ("leaf", rows[KEY][1])


def cut(rows: dict) -> None:
    rows[KEY] = (rows[KEY][0], rows[KEY][1][:-4])


def cut_within_a_number(rows: dict) -> None:
    rows[KEY] = (rows[KEY][0], rows[KEY][1][:-1])


def not_a_number(rows: dict) -> None:
    rows[KEY] = (rows[KEY][0], np.float32("nan").tobytes() + rows[KEY][1][4:])


def without_bias(rows: dict) -> None:
    del rows[1, 1, 2]


def a_text(rows: dict) -> None:
    rows[KEY] = (rows[KEY][0], "weights")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (spoil_name, "contradict"),
        (cut, "cut off"),
        (cut_within_a_number, "not an array"),
        (not_a_number, "not numbers"),
        (without_bias, "cut off"),
        (a_text, "not an array"),
    ],
)
def test_wrong_weights(write_policy: Write, domain: Domain, change, message: str) -> None:
    path = write_policy(domain, change=change)
    with pytest.raises(PolicyError, match=message) as caught:
        open_policy(str(path))
    assert caught.value.location.file == str(path)


def sabotage(path: Path, *commands: str) -> None:
    with sqlite3.connect(path) as database:
        for command in commands:
            database.execute(command)
    database.close()


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (["DROP TABLE asnets_info"], "not a policy"),
        (["UPDATE asnets_info SET int_value = 0"], "cfg_hidden_dimension"),
        (["UPDATE asnets_info SET int_value = 1000000000"], "cfg_hidden_dimension"),
        (["UPDATE asnets_info SET str_value = 'x'"], "cfg_hidden_dimension"),
        (["UPDATE asnets_weights SET layer = 'x' WHERE id = 3"], "not numbered"),
        (["UPDATE asnets_weights SET idx = -1 WHERE id = 3"], "numbered wrongly"),
        (["DELETE FROM asnets_weights WHERE idx = 1"], "missing"),
        (["ALTER TABLE asnets_weights RENAME COLUMN sig TO sign"], "cannot be read"),
        (
            [
                "DROP TABLE asnets_info",
                "CREATE VIEW asnets_info AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1"
                " FROM c) SELECT x AS parameter, x AS int_value, 1. AS flt_value, x AS str_value"
                " FROM c",
            ],
            "not a policy",
        ),
    ],
)
def test_wrong_tables(
    write_policy: Write, domain: Domain, commands: list[str], message: str
) -> None:
    path = write_policy(domain)
    sabotage(path, *commands)
    with pytest.raises(PolicyError, match=message):
        open_policy(str(path))


def test_a_database_that_never_ends(write_policy: Write, domain: Domain) -> None:
    path = write_policy(domain)
    sabotage(
        path,
        "DROP TABLE asnets_info",
        "CREATE TABLE asnets_info (parameter TEXT, int_value INT, flt_value REAL, str_value AS"
        " (hex(zeroblob(50000000))))",
        *["INSERT INTO asnets_info (parameter) VALUES ('x')"] * 3,
    )
    with pytest.raises(PolicyError, match="computes its values"):
        open_policy(str(path))


@pytest.mark.parametrize("length", [0, 10, 100, 5000])
def test_a_truncated_file(write_policy: Write, domain: Domain, length: int) -> None:
    path = write_policy(domain)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(PolicyError):
        open_policy(str(path))


def test_another_domain_is_refused_with_the_difference(write_policy: Write, domain: Domain) -> None:
    other = parse_domain(
        """(define (domain other) (:predicates (at ?c ?p) (road ?a ?b))
           (:action go :parameters (?c ?a ?b) :precondition (and (at ?c ?a) (road ?a ?b))
             :effect (and (at ?c ?b) (not (at ?c ?a)))))"""
    )
    policy = open_policy(str(write_policy(domain)))
    reasons = policy.misfits(other)
    assert reasons == (
        "the domain lacks the actions 'take', 'leave', 'hand-over'",
        "the policy does not know the predicates 'road'",
        "the domain lacks the predicates 'link', 'lies', 'holds', 'idle', 'noted'",
    )
    with pytest.raises(PolicyError, match="does not fit the domain 'other'"):
        open_policy(str(write_policy(domain, name="again.policy")), other)


def test_the_same_names_with_other_conditions_do_not_fit(
    write_policy: Write, domain: Domain, domain_path: Path
) -> None:
    changed = domain_path.read_text().replace(
        "(and (at ?c ?p) (holds ?c ?x))", "(and (at ?c ?p) (holds ?c ?x) (noted ?p))"
    )
    reasons = open_policy(str(write_policy(domain))).misfits(parse_domain(changed))
    assert "action 'leave' has other preconditions or effects" in reasons
    assert "predicate 'noted' is used by other actions" in reasons


def test_other_types_are_only_a_note(
    write_policy: Write, domain: Domain, domain_path: Path, problem_path: Path
) -> None:
    from engine.task.load import load_task

    path = write_policy(domain)
    domain_path.write_text(domain_path.read_text().replace("walker", "runner"))
    problem_path.write_text(problem_path.read_text().replace("walker", "runner"))
    bound = open_policy(str(path)).bind(load_task(domain_path, problem_path))
    assert bound.notes == ("the policy was trained on a domain with other types",)


def network(domain: Domain) -> Asnets:
    torch.manual_seed(3)
    return Asnets(relate(domain), hidden=5, layers=3)


def test_our_own_format_gives_back_what_it_got(tmp_path: Path, domain: Domain, task: Task) -> None:
    saved, path = network(domain), tmp_path / "own.pt"
    save_checkpoint(path, saved, domain, {"epoch": 7})
    policy = open_policy(str(path), domain)
    assert policy.describe().details["epoch"] == 7
    loaded, written = (
        read_checkpoint(path, load_checkpoint(path)).modules,
        saved.modules_by_part(),
    )
    assert loaded.keys() == written.keys()
    for key, module in written.items():
        assert np.array_equal(loaded[key].weight, module.weight)
        assert np.array_equal(loaded[key].bias, module.bias)
    assert policy.bind(task).decide(np.array([task.init], dtype=np.int32))[0] >= 0


def spoil(path: Path, change) -> None:
    contents = torch.load(path, weights_only=True)
    change(contents)
    torch.save(contents, path)


def set_nan(contents: dict) -> None:
    contents["state_dict"]["action.0.0.bias"][0] = torch.nan


def huge(contents: dict) -> None:
    contents["state_dict"]["action.0.0.weight"] = torch.zeros(1).expand(2**20, 2**20)


def wrong_shape(contents: dict) -> None:
    contents["state_dict"]["action.0.0.bias"] = torch.zeros(3)


def strange_key(contents: dict) -> None:
    contents["state_dict"]["what"] = torch.zeros(3)


def no_tensor(contents: dict) -> None:
    contents["state_dict"]["action.0.0.weight"] = "tensor"


def no_json(contents: dict) -> None:
    contents["metadata"] = "{"


def no_metadata(contents: dict) -> None:
    del contents["metadata"]


def newer(contents: dict) -> None:
    contents["plumbline"] = 99


@pytest.mark.parametrize(
    "change",
    [set_nan, huge, wrong_shape, strange_key, no_tensor, no_json, no_metadata, newer],
)
def test_a_spoiled_checkpoint(tmp_path: Path, domain: Domain, change) -> None:
    path = tmp_path / "own.pt"
    save_checkpoint(path, network(domain), domain)
    spoil(path, change)
    with pytest.raises(PolicyError):
        open_policy(str(path))


def test_missing_weights_do_not_fit(tmp_path: Path, domain: Domain) -> None:
    path = tmp_path / "own.pt"
    save_checkpoint(path, network(domain), domain)
    names = ("action.1.0.weight", "action.1.0.bias")
    spoil(path, lambda contents: [contents["state_dict"].pop(name) for name in names])
    assert open_policy(str(path)).misfits(domain)
