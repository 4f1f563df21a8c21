import pytest
from reference.random_tasks import make_task

from engine.records.evidence import Evidence, Morph, Walk
from engine.task.task import Operator
from engine.verify.evidence import verify

UP = Operator("up", ((0, 0),), ((0, 1),), 2)
ON = Operator("on", ((0, 1),), ((0, 2),), 3)
TASK = make_task((3, 2), (UP, ON), (0, 0), ((0, 2),))
PLAN = Evidence((0, 0), (Walk((0,), "policy"), Walk((1,), "aras")), 5)


def test_a_plan_is_verified_and_its_cost_added_up() -> None:
    checked = verify(PLAN, TASK)
    assert checked.ok
    assert checked.bound == 5
    assert PLAN.is_plan
    assert PLAN.operators == (0, 1)


@pytest.mark.parametrize(
    ("evidence", "complaint"),
    [
        (Evidence((0, 0), (Walk((0, 1), "x"),), 4), "costs 5, more than the claimed 4"),
        (Evidence((0, 0), (Walk((0,), "x"),), 5), "ends where Atom holds(v0, x2) is false"),
        (Evidence((0, 0), (Walk((1,), "x"),), 5), "(on) needs Atom holds(v0, x1)"),
        (Evidence((0, 0), (Walk((7,), "x"),), 5), "unknown operator 7"),
        (Evidence((0, 0), (Walk((-1,), "x"),), 5), "unknown operator -1"),
        (Evidence((0,), (), 5), "a state of 1 values"),
        (Evidence((3, 0), (), 5), "variable 0 has no value 3"),
        (Evidence((0, 0), (Morph((2, 0), 1, "d"),), 5), "no dominance function"),
    ],
)
def test_what_does_not_hold_is_reported(evidence: Evidence, complaint: str) -> None:
    checked = verify(evidence, TASK)
    assert not checked.ok
    assert complaint in checked.problem


def test_a_dominance_value_is_put_to_its_checker() -> None:
    asked = []

    def dominance(source, state, gain):
        asked.append((source, state, gain))
        return None if gain <= -2 else "too large"

    chain = Evidence((0, 0), (Morph((1, 0), -2, "bmo"), Walk((1,), "policy")), 5)
    assert verify(chain, TASK, dominance).bound == 5
    assert asked == [((1, 0), (0, 0), -2)]
    bold = Evidence((0, 0), (Morph((1, 0), -1, "bmo"), Walk((1,), "policy")), 5)
    assert "too large" in verify(bold, TASK, dominance).problem


def test_a_chain_with_dominance_steps_is_no_plan() -> None:
    chain = Evidence((0, 0), (Morph((1, 0), -2, "bmo"), Walk((1,), "policy")), 5)
    assert chain.kind == "dominance"
    with pytest.raises(ValueError, match="not a plan"):
        _ = chain.operators
