"""A steady 200 Hz loop beside DDS callbacks, proven with a stand-in arm and a stand-in bridge."""
