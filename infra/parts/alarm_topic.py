"""Where alarms go: an encrypted topic that CloudWatch may use, and the e-mail address given at deployment."""

from __future__ import annotations

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.parts.acknowledged import acknowledge
from infra.settings import StageSettings

CLOUDWATCH = "cloudwatch.amazonaws.com"


class AlarmTopic(Construct):
    """A key of its own, because the policy of SNS's own key does not let CloudWatch publish."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: StageSettings) -> None:
        super().__init__(scope, construct_id)
        key = kms.Key(
            self,
            "Key",
            description="Thumbline's alarms on their way through SNS",
            enable_key_rotation=True,
            # Nothing is encrypted with it for longer than a delivery takes.
            removal_policy=RemovalPolicy.DESTROY,
            pending_window=Duration.days(7),
        )
        key.add_to_resource_policy(
            _cloudwatch_may(["kms:Decrypt", "kms:GenerateDataKey*"], "*", sid="CloudWatchPublishesAlarms")
        )
        self.topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        self.topic.add_to_resource_policy(
            _cloudwatch_may(["sns:Publish"], self.topic.topic_arn, sid="CloudWatchPublishesAlarms")
        )
        if settings.alarm_email is not None:
            subscription = self.topic.add_subscription(subscriptions.EmailSubscription(settings.alarm_email))
            acknowledge(
                subscription,
                {
                    "Serverless::Serverless-SNSRedrivePolicy": "An e-mail that is refused would wait"
                    " in a queue that nobody reads; the alarm stays visible in CloudWatch."
                },
            )


def _cloudwatch_may(actions: list[str], resource: str, *, sid: str) -> iam.PolicyStatement:
    """Only for alarms of this account and region: the service acts for everybody."""
    return iam.PolicyStatement(
        sid=sid,
        principals=[iam.ServicePrincipal(CLOUDWATCH)],
        actions=actions,
        resources=[resource],
        conditions={
            "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
            "ArnLike": {
                "aws:SourceArn": f"arn:{Aws.PARTITION}:cloudwatch:{Aws.REGION}:{Aws.ACCOUNT_ID}:alarm:*"
            },
        },
    )
