"""A small client of the API, for the demo, the soak run and the end-to-end tests."""

from tools.client.api import Answer, ImageApi, NoAnswerError, Problem
from tools.client.jobs import Job, JobPendingError, JobRefusedError, follow

__all__ = [
    "Answer",
    "ImageApi",
    "Job",
    "JobPendingError",
    "JobRefusedError",
    "NoAnswerError",
    "Problem",
    "follow",
]
