"""A discrete-event model of the DataLoader: what another setting would have given."""
