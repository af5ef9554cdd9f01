"""The CRTK contract of the dVRK as one table."""
