"""Processes of engines, to be killed."""

import os


def with_command(*words):
    """Process ids of those whose command line has all of the words."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().decode(errors="replace")
        except OSError:  # it has ended
            continue
        if all(word in command for word in words):
            found.append(int(pid))
    return found
