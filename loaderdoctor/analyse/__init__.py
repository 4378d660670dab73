"""From records to signals: pure functions."""
