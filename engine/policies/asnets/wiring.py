"""Index tensors that connect the operators and facts of one task: who feeds whom.

Everything is laid out item first, then state, then hidden unit, so that one row gather moves a
whole batch and the indices do not depend on its size.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from engine.native.networks import NativePools
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
    """Connections of one grounding; `facts` lists the ids of the facts that take part."""

    def __init__(self, grounding: Grounding, dtype: torch.dtype = torch.float32) -> None:
        self.operators = len(grounding.operators)
        used = np.zeros(len(grounding.facts) + 1, dtype=np.bool_)
        for related in grounding.related:
            used[related] = True
        self.facts: Ints = np.flatnonzero(used[:-1])
        self.schemas = _schema_blocks(grounding)
        self.schema_of_operator = torch.from_numpy(grounding.schema_of_operator)
        self.first = FirstLayer(grounding, self.facts, dtype)
        self.blocks = _fact_blocks(grounding, self.facts)
        links = self._links(grounding)
        self._wire_sums(grounding, links)
        self._wire_pools(links, dtype)
        self._wire_conditions(grounding, links)

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

    def _wire_sums(self, grounding: Grounding, links: list[_Link]) -> None:
        widths = np.array([len(schema.related) for schema in grounding.relatedness.schemas])
        sizes = widths[grounding.schema_of_operator]
        starts = np.cumsum(sizes) - sizes
        rows = np.empty(int(sizes.sum()), dtype=np.int64)
        for link in links:
            rows[starts[link.operators] + link.position] = link.products
        self._sum_rows = torch.from_numpy(rows)
        self._sum_starts = torch.from_numpy(starts)

    def _wire_pools(self, links: list[_Link], dtype: torch.dtype) -> None:
        pools = [link.pools[link.local >= 0] for link in links]
        members = [
            np.arange(link.operators.start, link.operators.stop)[link.local >= 0] for link in links
        ]
        rows = np.concatenate([*pools, np.empty(0, np.int64)])
        columns = np.concatenate([*members, np.empty(0, np.int64)])
        order = np.lexsort((columns, rows))
        count = self.blocks[-1].pools.stop if self.blocks else 0
        sizes = np.bincount(rows, minlength=count)
        begin = np.concatenate([[0], np.cumsum(sizes)])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            self._pools = torch.sparse_csr_tensor(
                torch.from_numpy(begin),
                torch.from_numpy(columns[order]),
                torch.ones(len(columns), dtype=dtype),
                (count, self.operators),
                check_invariants=False,
            )
        self._empty_pools = torch.from_numpy(np.flatnonzero(sizes == 0))
        self._native_pools = NativePools(
            [block.size for block in self.blocks],
            [block.slots for block in self.blocks],
            begin,
            columns[order],
            self.operators,
        )

    def _wire_conditions(self, grounding: Grounding, links: list[_Link]) -> None:
        """Rows of facts that must hold, and of those that must not, padded with a last row."""
        schemas = grounding.relatedness.schemas
        self._positive = self._conditions(links, [schema.positive for schema in schemas], grounding)
        self._negative = self._conditions(links, [schema.negative for schema in schemas], grounding)

    def _conditions(
        self, links: list[_Link], positions: list[tuple[int, ...]], grounding: Grounding
    ) -> list[Tensor]:
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
        return [torch.from_numpy(column) for column in columns]

    @property
    def product_rows(self) -> int:
        return int(self.blocks[-1].products.stop) if self.blocks else 0

    def applicable(self, truth: Tensor) -> Tensor:
        """Which operators are applicable (operators, states), given truth values of facts."""
        holds = torch.cat((truth > 0.5, truth.new_ones((1, truth.shape[1]), dtype=torch.bool)))
        result = holds.new_ones((self.operators, truth.shape[1]))
        for column in self._positive:
            result &= holds.index_select(0, column)
        if self._negative:
            fails = ~holds
            fails[-1] = True
            for column in self._negative:
                result &= fails.index_select(0, column)
        return result

    def sum_related(self, products: Tensor) -> Tensor:
        """Per operator the sum of its rows of products, one for each related atom."""
        return functional.embedding_bag(self._sum_rows, products, self._sum_starts, mode="sum")

    def pool(self, actions: Tensor, empty: float) -> list[Tensor]:
        """Maxima over operators, by block: one row per fact and state, its pools side by side."""
        _, states, hidden = actions.shape
        if torch.is_grad_enabled():
            flat: Tensor = torch.sparse.mm(self._pools, actions.view(len(actions), -1), "amax")
            pools = flat.index_fill(0, self._empty_pools, empty).view(-1, states, hidden)
            parts = [
                pools[block.pools].view(-1, block.slots, states, hidden) for block in self.blocks
            ]
            return [part.transpose(1, 2).flatten(2).flatten(0, 1) for part in parts]
        pools = actions.new_empty((self._native_pools.n_pools, states, hidden))
        self._native_pools.fill(actions, empty, pools)
        return [pools[block.pools].view(-1, block.slots * hidden) for block in self.blocks]


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
