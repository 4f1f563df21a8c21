"""Training action schema networks by imitation of a planner.

As in Toyer et al. (JAIR 2020): the current policy explores small problems, a teacher says what
would have been right in the states it came to, and the network learns that. `imitation.train` is
the loop; every epoch leaves a checkpoint, because the weaker ones make the portfolio that policy
comparison oracles need.
"""
