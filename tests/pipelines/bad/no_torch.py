"""Has nothing to do with torch at all."""

print("no torch here")
