"""The campaign screen: configure a campaign, watch it, and see what it found."""
