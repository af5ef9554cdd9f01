"""What every node and client needs: messages, parameters, loops, processes, calls."""
