"""Forward, inverse and differential kinematics of every arm."""
