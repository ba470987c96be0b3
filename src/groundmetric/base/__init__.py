"""What all estimators share: how they take histograms, and how they are saved."""
