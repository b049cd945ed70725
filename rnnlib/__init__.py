"""Stacked recurrent networks whose costs are derived, measured and tested."""
