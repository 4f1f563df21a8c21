"""Action schema networks: lifted relatedness, grounding, the network, its files, the policy."""
