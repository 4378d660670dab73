"""What the parent sees from outside: processes, disks, memory, GPU and the limits of this machine."""
