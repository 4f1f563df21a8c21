"""Pictures of states: what an object is, where it is, and what a step changes.

Everything is inferred from the task (`roles`), or said by an animation profile (`profile`). The
rules, and what every picture guarantees, are in docs/theory/state-pictures.md.
"""
