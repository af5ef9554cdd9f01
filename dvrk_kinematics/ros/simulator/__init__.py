"""The node arm_simulator: simulated arms on the dVRK's own topics."""
