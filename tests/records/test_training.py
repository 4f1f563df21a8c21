"""Which epoch of a training is chosen, and when it stagnates."""

from __future__ import annotations

from engine.records.training import EpochRecord, best_of, stagnation


def history(*results: tuple[float, float, float]) -> list[EpochRecord]:
    """Of losses, successes and costs."""
    return [
        EpochRecord(epoch, loss, success, cost, 10, f"{epoch}.pt")
        for epoch, (loss, success, cost) in enumerate(results, 1)
    ]


def test_the_loss_decides_between_epochs_that_solve_the_same() -> None:
    nothing_solved = history((2.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.6, 0.0, 0.0))
    assert best_of(nothing_solved).epoch == 3
    assert best_of(history((0.1, 0.5, 9.0), (0.9, 0.5, 8.0), (0.2, 0.4, 1.0))).epoch == 2


def test_an_epoch_whose_loss_falls_is_no_stagnation() -> None:
    falling = history(*((2.0 - 0.1 * epoch, 0.0, 0.0) for epoch in range(11)))
    assert stagnation(falling) == 0
    assert stagnation(history((1.0, 0.0, 0.0), (0.999, 0.0, 0.0), (1.2, 0.0, 0.0))) == 2
    assert stagnation(history((1.0, 0.5, 9.0), (2.0, 0.5, 8.0), (2.0, 0.5, 9.0))) == 1
