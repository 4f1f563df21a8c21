"""Relational graph neural networks as policies: checkpoint files, encoding, network, policy."""
