"""What the learners share: parameters, kernel access, the pool of examples at hand and the compiled expansion."""
