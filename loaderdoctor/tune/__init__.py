"""Climbs the ladder of a loader's settings on the script itself: few runs measured, the rest left to the model."""
