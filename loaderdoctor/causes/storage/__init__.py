"""Causes that lie in disks, file systems and file formats."""
