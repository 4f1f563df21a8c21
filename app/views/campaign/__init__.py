"""The campaign screen: set one up, watch it, and see what it found."""
