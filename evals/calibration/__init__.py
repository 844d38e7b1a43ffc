"""What `evals calibrate` works with: the questions it asks, the curve, the fit of confidence, the setting."""
