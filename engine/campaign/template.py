"""The commented configuration with which a user begins."""

from __future__ import annotations

from engine.campaign.presets import PRESETS
from engine.fuzzing.biases import BIASES
from engine.oracles.registry import ORACLES


def template() -> str:
    presets = "\n".join(f"#   {item.name:<9} {item.purpose}" for item in PRESETS.values())
    oracles = "\n".join(f"#   {item.name:<10} {item.sentence}" for item in ORACLES.values())
    return f"""\
# A campaign: every policy is tested on every problem with every seed.
# Paths are relative to this file; problems and policies may be patterns such as "problems/*.pddl".

# The defaults; every key below overrides one of them.
{presets}
preset = "quick"

domain = "domain.pddl"             # leave it out if the problems are .sas files
problems = ["problems/*.pddl"]
# A file (.pt, .policy, .ckpt), "grpc://host:port", "plugin.py:factory", or "builtin:NAME" with
# NAME one of random, gc, hadd, hff, optimal.
policies = ["policies/*.pt"]
# portfolio = ["policies/checkpoints"]  # others to compare with: for pco-p, pco-e and composite
# pool = "pool.txt"                # test the states of this pool or bugs file, without fuzzing
seeds = [0]
# unit_costs = true                # count actions instead of adding up costs

# How the pool of test states grows: by random walks from states that are already in it.
[fuzzing]
# size = 50                        # states in the pool
# walk_length = 5                  # steps of the longest walk
# bias = "none"                    # {", ".join(BIASES)}
# horizon = 50                     # policy steps a bias looks ahead; 0: whole runs
# budget = 200                     # policy evaluations per walk step; 0: no limit
# novelty = 0                      # 1-3: keep only states with a new set of this many facts
# seconds = 600                    # time for walks; without it they end after 200 walks and 20
#                                  # more per state of the pool
# unsolved = "insert-and-avoid"    # or "prefer": what walks do where the policy fails

# Which oracles examine each state, in this order. Options follow a colon: "lookahead:depth=2".
{oracles}
[testing]
# oracles = ["aras-ehc", "lookahead:depth=1", "gbfs"]
# objective = "any"                # "goal": only failures count, not costs
# step_limit = 10000               # decisions after which a policy's run is stopped
# skip_known_bugs = false          # true: once a state is a bug, the other oracles skip it
# mode = "hunt"                    # oracles work as a team; "compare": each by itself, with its own
#                                  # bounds, caches and clock, to compare how much each proves

# Limits of each unit (one problem, policy and seed). A unit that reaches a limit is stopped and
# keeps what it found. Results that depend on a limit in seconds are not exactly repeatable.
[limits]
# unit_seconds = 600
# unit_megabytes = 4000            # including its policy and the planners it starts
# oracle_seconds = 3600            # CPU time of each oracle for all states together
# state_seconds = 60               # CPU time of each oracle for one state

# Finds the bad steps of the policy's runs, and which bugs have the same root cause. Steps that
# these limits leave undecided can be examined again with 'plumbline localize'.
[localization]
# enabled = false
# search_expansions = 10000        # for one search from one state of a run
# bug_expansions = 50000           # for all searches along the run of one bug
# unit_expansions = 1000000        # for all bugs of one problem, policy and seed
# bug_seconds = 10                 # results are then not exactly repeatable

# Finds the smallest problem that shows the mistake of each root cause, and its pattern. Requires
# localization.
[minimization]
# enabled = false
# tries = 3000                     # problems to try per root cause
"""
