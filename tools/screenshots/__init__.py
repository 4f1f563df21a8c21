"""Pictures of every screen with real data, in both themes and at both scales.

Every module beside this one that has a function `take(stage)` is asked for its pictures; it is
named after its screen. Run it with `make screenshots`, or for one screen with
`python -m tools.screenshots bugs`.
"""
