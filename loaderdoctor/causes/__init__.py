"""Why a training starves: one cause a file, its page beside it."""
