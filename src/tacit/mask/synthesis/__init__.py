"""The parts of synthesis: columns as numbers, models per variable, joint models, sequences."""
