"""DynamoDB, SQS and S3 behind the ports, over low-level boto3 clients that `bootstrap` makes."""
