"""Makes the example problems, of any size: `generate.py DOMAIN --size N --seed S [--out FILE]`.

One function per domain turns a size and a random generator into a problem that has a plan by
construction; its docstring says why. `generate.py --all` writes the shipped problems again:
problem `pNN` of a domain is size NN with the seed listed in `SHIPPED_SEEDS`.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent

SHIPPED_SEEDS = {
    "ferry": (1, 1, 4, 2, 3, 6, 5, 5),
    "container-yard": (1, 1, 6, 3, 4, 1, 5, 5),
    "parcel-delivery": (1, 2, 6, 5, 4, 1, 5, 5),
    "crumbling-temple": (4, 1, 4, 2, 6, 5, 7, 3),
    "workshop": (1, 1, 1, 1, 1, 1, 1, 1),
}
"""The seed of p01, p02, ... of each domain."""


@dataclass(frozen=True, slots=True)
class Problem:
    objects: Mapping[str, Sequence[str]]  # by type
    init: Sequence[str]
    goal: Sequence[str]
    minimize_cost: bool = False


def numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(1, count + 1)]


def chain(predicate: str, names: Sequence[str]) -> list[str]:
    return [f"({predicate} {low} {high})" for low, high in itertools.pairwise(names)]


def ferry(size: int, random: Random) -> Problem:
    """The lanes contain a ring through all islands, so the ferry reaches every island again."""
    islands = numbered("island", 3 + size // 5)
    robots = numbered("robot", 2 + size // 2)
    berths = numbered("berth", 1 if size < 3 else 2)
    ring = random.sample(islands, len(islands))
    lanes = list(zip(ring, ring[1:] + ring[:1], strict=True))
    backward = [(end, start) for start, end in lanes]
    lanes += random.sample(backward, len(islands) // 2)
    init = [f"(lane {start} {end})" for start, end in lanes]
    init.append(f"(ferry-at {random.choice(islands)})")
    init += [f"(vacant {berth})" for berth in berths]
    goal = []
    for robot in robots:
        start, end = random.sample(islands, 2)
        init.append(f"(ashore {robot} {start})")
        goal.append(f"(ashore {robot} {end})")
    return Problem({"island": islands, "robot": robots, "berth": berths}, init, goal)


def stacked(containers: Sequence[str], bays: Sequence[str], random: Random) -> list[list[str]]:
    """A random arrangement: one list per bay, from the ground up."""
    stacks: list[list[str]] = [[] for _ in bays]
    for container in random.sample(containers, len(containers)):
        random.choice(stacks).append(container)
    return stacks


def stack_facts(stacks: Sequence[Sequence[str]], bays: Sequence[str]) -> list[str]:
    facts = []
    for stack, bay in zip(stacks, bays, strict=True):
        facts += [f"(in-bay {container} {bay})" for container in stack[:1]]
        facts += [f"(on-top-of {upper} {lower})" for lower, upper in itertools.pairwise(stack)]
    return facts


def container_yard(size: int, random: Random) -> Problem:
    """Three bays are enough to sort any stacks, as their height is not limited."""
    containers = numbered("box", 2 + size // 2)
    bays = numbered("bay", 3 + size % 2)
    start = stacked(containers, bays, random)
    end = stacked(containers, bays, random)
    while not set(stack_facts(end, bays)).isdisjoint(stack_facts(start, bays)):
        end = stacked(containers, bays, random)
    init = ["(crane-idle)", *stack_facts(start, bays)]
    for stack, bay in zip(start, bays, strict=True):
        init.append(f"(topmost {stack[-1]})" if stack else f"(empty {bay})")
    return Problem({"container": containers, "bay": bays}, init, stack_facts(end, bays))


def road_map(places: Sequence[str], random: Random) -> dict[tuple[str, str], int]:
    """A connected map: each place is joined to an earlier one, and a few roads close rings."""
    position = {place: (random.randint(0, 20), random.randint(0, 20)) for place in places}
    pairs = [(random.choice(places[:number]), places[number]) for number in range(1, len(places))]
    others = [
        (first, second)
        for number, first in enumerate(places)
        for second in places[number + 1 :]
        if (first, second) not in pairs
    ]
    pairs += random.sample(others, min(len(others), len(places) // 3))
    return {pair: 1 + round(math.dist(position[pair[0]], position[pair[1]])) for pair in pairs}


def parcel_delivery(size: int, random: Random) -> Problem:
    """Roads can be driven both ways and join all places: one truck could do all the work."""
    places = numbered("place", 3 + size // 3)
    trucks = numbered("truck", 1 if size < 2 else 2)
    parcels = numbered("parcel", 2 + (size - 1) // 3)
    rooms = [f"room{number}" for number in range(2 if size < 5 else 3)]
    init = chain("one-less", rooms)
    for (first, second), length in road_map(places, random).items():
        for start, end in ((first, second), (second, first)):
            init += [f"(road {start} {end})", f"(= (length {start} {end}) {length})"]
    for truck in trucks:
        init += [
            f"(truck-at {truck} {random.choice(places)})",
            f"(for-hire {truck})",
            f"(has-room {truck} {rooms[-1]})",
            f"(= (fee {truck}) {random.randint(5, 30)})",
        ]
    goal = []
    for parcel in parcels:
        start, end = random.sample(places, 2)
        init.append(f"(parcel-at {parcel} {start})")
        goal.append(f"(parcel-at {parcel} {end})")
    init.append("(= (total-cost) 0)")
    objects = {"place": places, "truck": trucks, "parcel": parcels, "room": rooms}
    return Problem(objects, init, goal, minimize_cost=True)


Tile = tuple[int, int]


def tour(tiles: set[Tile], fragile: set[Tile], random: Random) -> list[Tile]:
    """A random walk that keeps the rules of the temple and ends when it is stuck or tired."""
    whole = set(tiles)
    path = [random.choice(sorted(tiles - fragile))]
    while len(path) < 3 * len(tiles):
        row, column = path[-1]
        beside = {(row, column + 1), (row + 1, column), (row, column - 1), (row - 1, column)}
        steps = sorted(beside & whole)
        if not steps:
            break
        if path[-1] in fragile:
            whole.discard(path[-1])
        path.append(random.choice(steps))
    return path


def crumbling_temple(size: int, random: Random) -> Problem:
    """A walk through the temple comes first; gems lie on its tiles and the exit at its end."""
    height, width, gem_count = 2 + size // 2, 2 + (size + 1) // 2, 1 + size // 3
    grid = [(row, column) for row in range(height) for column in range(width)]
    tiles = set(random.sample(grid, len(grid) - len(grid) // 8))
    fragile = set(random.sample(sorted(tiles), min(len(tiles) // 2, 2 + size)))
    tours = [tour(tiles, fragile, random) for _ in range(50)]
    path = max(tours, key=lambda walk: (len(fragile.intersection(walk)), -len(walk)))
    name = {tile: f"tile-{tile[0] + 1}-{tile[1] + 1}" for tile in sorted(tiles)}
    gems = numbered("gem", gem_count)
    beside = [
        f"(beside {name[here]} {name[there]})"
        for here in name
        for there in name
        if math.dist(here, there) == 1
    ]
    init = [f"(explorer-on {name[path[0]]})", *beside]
    for tile, label in name.items():
        init += [f"({'fragile' if tile in fragile else 'firm'} {label})", f"(whole {label})"]
    inner = sorted(set(path[1:]) - {path[-1]}) or [path[-1]]
    init += [f"(lies-on {gem} {name[random.choice(inner)]})" for gem in gems]
    goal = [f"(collected {gem})" for gem in gems] + [f"(explorer-on {name[path[-1]]})"]
    return Problem({"tile": list(name.values()), "gem": gems}, init, goal)


def workshop(size: int, random: Random) -> Problem:
    """Each tool fits some machine, and everything that is mounted or clamped comes off again."""
    pieces = numbered("piece", 2 + (size - 1) // 3)
    machines = numbered("machine", 1 if size < 2 else 2)
    tools = ["drill", "saw", "grinder", "polisher"][: min(4, 2 + size // 3)]
    stages = [f"stage{number}" for number in range(3 + (size % 3 == 0 or size > 6))]
    init = chain("next-stage", stages)
    init += [f"(loose {piece})" for piece in pieces]
    init += [f"(at-stage {piece} {stages[0]})" for piece in pieces]
    for piece in pieces:
        init += [f"(calls-for {piece} {stage} {random.choice(tools)})" for stage in stages[:-1]]
    for machine in machines:
        init += [f"(open {machine})", f"(bare {machine})"]
    for tool in tools:
        homes = random.sample(machines, random.randint(1, len(machines)))
        init += [f"(racked {tool})", *(f"(fits {tool} {machine})" for machine in sorted(homes))]
    goal = [f"(at-stage {piece} {stages[-1]})" for piece in pieces]
    goal += [f"(loose {piece})" for piece in pieces]
    objects = {"piece": pieces, "machine": machines, "tool": tools, "stage": stages}
    return Problem(objects, init, goal)


DOMAINS: dict[str, Callable[[int, Random], Problem]] = {
    "ferry": ferry,
    "container-yard": container_yard,
    "parcel-delivery": parcel_delivery,
    "crumbling-temple": crumbling_temple,
    "workshop": workshop,
}


def indented(lines: Iterable[str]) -> str:
    return "".join(f"\n    {line}" for line in lines)


def problem_text(domain: str, size: int, seed: int) -> str:
    """The PDDL file; the same arguments always give the same text."""
    problem = DOMAINS[domain](size, Random(f"{domain} {size} {seed}"))
    objects = (f"{' '.join(names)} - {kind}" for kind, names in problem.objects.items())
    metric = "\n  (:metric minimize (total-cost))" if problem.minimize_cost else ""
    return (
        f"; python resources/examples/generate.py {domain} --size {size} --seed {seed}\n"
        f"(define (problem {domain}-{size}-{seed})\n"
        f"  (:domain {domain})\n"
        f"  (:objects{indented(objects)})\n"
        f"  (:init{indented(problem.init)})\n"
        f"  (:goal (and{indented(problem.goal)})){metric})\n"
    )


def shipped() -> dict[Path, str]:
    """Every problem file of this folder with the text it must have."""
    return {
        HERE / domain / "problems" / f"p{size:02}.pddl": problem_text(domain, size, seed)
        for domain, seeds in SHIPPED_SEEDS.items()
        for size, seed in enumerate(seeds, start=1)
    }


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make a problem of an example domain.")
    parser.add_argument("domain", nargs="?", choices=DOMAINS)
    parser.add_argument("--size", type=positive, default=1, help="1, 2, ...: tiny to large")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="file to write (default: the screen)")
    parser.add_argument("--all", action="store_true", help="write every shipped problem again")
    options = parser.parse_args(arguments)
    if options.all:
        for path, text in shipped().items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    elif options.domain is None:
        parser.error("name a domain, or use --all")
    else:
        text = problem_text(options.domain, options.size, options.seed)
        if options.out is None:
            sys.stdout.write(text)
        else:
            options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
