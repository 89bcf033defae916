"""A small client of the API, for the demo, the soak run and the end-to-end tests."""

from tools.client.api import Answer, ImageApi, NoAnswerError, Problem
from tools.client.jobs import Change, Job, JobPendingError, follow

__all__ = ["Answer", "Change", "ImageApi", "Job", "JobPendingError", "NoAnswerError", "Problem", "follow"]
