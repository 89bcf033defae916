"""The whole OpenAPI 3.1 document.
https://spec.openapis.org/oas/v3.1.1"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from functions.ingest_api.openapi.operations import paths
from functions.ingest_api.openapi.parts import HEADERS
from functions.ingest_api.openapi.schemas import schemas
from thumbline.settings import IngestSettings

API_VERSION = "1.0.0"


def openapi_document(settings: IngestSettings) -> dict[str, Any]:
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Thumbline",
            "version": API_VERSION,
            "summary": "Pictures in, thumbnails out, asynchronously.",
            "description": "Submit a picture, follow its job, fetch its thumbnails. Errors are RFC 9457"
            " problem documents with a stable `code`. Links are root-relative. HEAD works wherever GET does.",
        },
        "servers": [{"url": "/v1"}],
        # One kind for each deployment; the local stack may have none.
        "security": [{"bearer": []}, {"sigv4": []}, {}],
        "paths": paths(settings),
        "components": {
            "schemas": schemas(settings),
            "headers": HEADERS,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token from the service's operator.",
                },
                "sigv4": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "AWS Signature Version 4 for the service execute-api.",
                    "x-amazon-apigateway-authtype": "awsSigv4",
                },
            },
        },
    }


@lru_cache(maxsize=4)
def openapi_text(settings: IngestSettings) -> str:
    return json.dumps(openapi_document(settings), indent=2, ensure_ascii=False) + "\n"
