"""The composition root: the only place that makes boto3 clients and joins adapters to use cases."""
