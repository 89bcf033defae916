"""The deployment of the pipeline's tests, for those of this folder, too."""

from tests.integration.test_pipeline_on_moto import deployment

__all__ = ["deployment"]
