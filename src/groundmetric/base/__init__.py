"""What all estimators share: reading histograms, and saving models."""
