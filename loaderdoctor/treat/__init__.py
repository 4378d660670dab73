"""What changes a script: the source patch, and the settings that trials force on it without one."""
