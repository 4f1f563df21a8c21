"""Indices that connect the operators and facts of one task: who feeds whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.policies.asnets.first_layer import FirstLayer
from engine.policies.asnets.grounding import MISSING, Grounding

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class FactBlock:
    """The facts of one predicate that some operator is related to."""

    predicate: int
    slots: int
    facts: slice  # among the wired facts
    pools: slice  # rows of the pools: fact by fact, then slot by slot
    products: slice  # rows of the products: slot by slot, and last a row for missing facts
    has_missing: bool

    @property
    def size(self) -> int:
        return int(self.facts.stop - self.facts.start)

    @property
    def rows_per_slot(self) -> int:
        return self.size + self.has_missing


@dataclass(frozen=True)
class _Link:
    """The related atom at one position of one schema, for all operators of the schema."""

    operators: slice
    position: int
    block: FactBlock
    slot: int
    local: Ints  # the fact's number in its block, or MISSING

    @property
    def products(self) -> Ints:
        first = int(self.block.products.start) + self.slot * self.block.rows_per_slot
        return first + np.where(self.local == MISSING, self.block.size, self.local)

    @property
    def pools(self) -> Ints:
        return int(self.block.pools.start) + self.local * self.block.slots + self.slot


class Wiring:
    """Connections of one grounding; `facts` lists the ids of the facts that take part.

    Operator i sums the rows `sum_rows[sum_begin[i]:sum_begin[i + 1]]` of the products; pool i is
    the maximum over the operators `pool_members[pool_begin[i]:pool_begin[i + 1]]`. `positive` and
    `negative` are the facts that must hold and those that must not: columns by operator, padded
    with the number of facts.
    """

    def __init__(self, grounding: Grounding) -> None:
        self.operators = len(grounding.operators)
        used = np.zeros(len(grounding.facts) + 1, dtype=np.bool_)
        for related in grounding.related:
            used[related] = True
        self.facts: Ints = np.flatnonzero(used[:-1])
        self.schemas = _schema_blocks(grounding)
        self.schema_of_operator = grounding.schema_of_operator
        self.first = FirstLayer(grounding, self.facts)
        self.blocks = _fact_blocks(grounding, self.facts)
        links = self._links(grounding)
        self.sum_begin, self.sum_rows = self._sums(grounding, links)
        self.pool_begin, self.pool_members = self._pools(links)
        schemas = grounding.relatedness.schemas
        self.positive = self._conditions(links, [schema.positive for schema in schemas], grounding)
        self.negative = self._conditions(links, [schema.negative for schema in schemas], grounding)

    def _links(self, grounding: Grounding) -> list[_Link]:
        slot_numbers = {
            (slot.schema, slot.position): (predicate, number)
            for predicate, slots in enumerate(grounding.relatedness.slots)
            for number, slot in enumerate(slots)
        }
        blocks = {block.predicate: block for block in self.blocks}
        links = []
        for schema, operators in self.schemas:
            related = grounding.related[schema]
            for position in range(related.shape[1]):
                predicate, slot = slot_numbers[schema, position]
                block = blocks[predicate]
                wired = np.searchsorted(self.facts, related[:, position]) - block.facts.start
                local = np.where(related[:, position] == MISSING, MISSING, wired)
                links.append(_Link(operators, position, block, slot, local))
        return links

    def _sums(self, grounding: Grounding, links: list[_Link]) -> tuple[Ints, Ints]:
        widths = np.array([len(schema.related) for schema in grounding.relatedness.schemas])
        begin = np.append(0, np.cumsum(widths[grounding.schema_of_operator]))
        rows = np.empty(int(begin[-1]), dtype=np.int64)
        for link in links:
            rows[begin[:-1][link.operators] + link.position] = link.products
        return begin, rows

    def _pools(self, links: list[_Link]) -> tuple[Ints, Ints]:
        pools = [link.pools[link.local >= 0] for link in links]
        members = [
            np.arange(link.operators.start, link.operators.stop)[link.local >= 0] for link in links
        ]
        rows = np.concatenate([*pools, np.empty(0, np.int64)])
        columns = np.concatenate([*members, np.empty(0, np.int64)])
        order = np.lexsort((columns, rows))
        count = self.blocks[-1].pools.stop if self.blocks else 0
        return np.append(0, np.cumsum(np.bincount(rows, minlength=count))), columns[order]

    def _conditions(
        self, links: list[_Link], positions: list[tuple[int, ...]], grounding: Grounding
    ) -> list[Ints]:
        padding = len(self.facts)
        columns: list[Ints] = []
        for link in links:
            schema = int(grounding.schema_of_operator[link.operators.start])
            if link.position not in positions[schema]:
                continue
            place = positions[schema].index(link.position)
            while len(columns) <= place:
                columns.append(np.full(self.operators, padding, dtype=np.int64))
            wired = link.local + link.block.facts.start
            columns[place][link.operators] = np.where(link.local == MISSING, padding, wired)
        return columns


def _schema_blocks(grounding: Grounding) -> list[tuple[int, slice]]:
    """Schemas that have operators, in the order of their operators."""
    schemas, first = np.unique(grounding.schema_of_operator, return_index=True)
    return [(int(schema), grounding.block(int(schema))) for schema in schemas[np.argsort(first)]]


def _fact_blocks(grounding: Grounding, facts: Ints) -> list[FactBlock]:
    relatedness = grounding.relatedness
    missing = {
        schema.related[position].predicate
        for schema, related in zip(relatedness.schemas, grounding.related, strict=True)
        for position in range(related.shape[1])
        if (related[:, position] == MISSING).any()
    }
    predicates = grounding.predicate_of_fact[facts]
    blocks: list[FactBlock] = []
    pools = products = 0
    for predicate, slots in enumerate(relatedness.slots):
        first, last = np.searchsorted(predicates, [predicate, predicate + 1]).tolist()
        has_missing = relatedness.predicates[predicate] in missing
        if first == last and not has_missing:
            continue
        pool_rows = slice(pools, pools + len(slots) * (last - first))
        product_rows = slice(products, products + len(slots) * (last - first + has_missing))
        facts_here = slice(first, last)
        blocks.append(
            FactBlock(predicate, len(slots), facts_here, pool_rows, product_rows, has_missing)
        )
        pools, products = pool_rows.stop, product_rows.stop
    return blocks
