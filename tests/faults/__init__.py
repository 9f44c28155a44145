"""Faults: schedules of faults in a simulated file system, and faults put into real runs."""
