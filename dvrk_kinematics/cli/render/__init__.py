"""Pictures of arms, and the animation of the Block-O."""
