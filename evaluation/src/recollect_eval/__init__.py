"""Quality, measured: our golden set and three public ones, with controls, in one run and on the same memories."""
