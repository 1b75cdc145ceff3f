"""The Tighter Budget Perceptron: removals that leave the fewest errors on a set of examples."""
