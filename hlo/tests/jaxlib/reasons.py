"""Why Weft and jaxlib may disagree: who accepts, what jaxlib says, what Weft says, and the reason in words."""

REASONS = []
