"""Settings that every test shares."""

from hypothesis import settings

# No deadline: a time limit a test says nothing about the code on a busy machine.  Derandomised: a commit passes or fails,
# whoever runs it and whenever.
settings.register_profile("loaderdoctor", deadline=None, derandomize=True)
settings.load_profile("loaderdoctor")
