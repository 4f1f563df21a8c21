"""Messages of many workers at once: all are served, and memory stays bounded."""

from __future__ import annotations

import threading

from engine.records.events import Warned
from engine.workers.channel import End, Events, pack
from engine.workers.supervisor import MAX_WAITING, Inbox

KINDS = frozenset({Warned})


def said(unit: int, text: str) -> Events:
    return Events((pack(Warned(unit, text)),))


def test_a_loud_worker_waits_and_the_others_are_heard() -> None:
    inbox = Inbox(KINDS)
    count = 20 * MAX_WAITING

    def speak() -> None:
        for number in range(count):
            inbox.put(1, said(1, str(number)))
        inbox.put(1, End())

    loud = threading.Thread(target=speak)
    loud.start()
    for unit in range(2, 50):
        inbox.put(unit, said(unit, "hello"))  # does not wait
    heard: list[int] = []
    loudest = 0
    while True:
        portion = list(inbox.take(10.0))
        loudest = max(loudest, sum(unit == 1 for unit, told in portion if isinstance(told, list)))
        heard += [unit for unit, _ in portion]
        if any(isinstance(told, End) for _, told in portion):
            break
    loud.join()
    assert loudest <= MAX_WAITING
    assert heard.count(1) == count + 1
    assert set(heard) == set(range(1, 50))
