"""The page that a problem's `type` names, for the person who follows it."""

from __future__ import annotations

import html
from http import HTTPStatus

from functions.ingest_api.problem_types import ProblemType

MEDIA_TYPE = "text/html; charset=utf-8"
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<h1>{title}</h1>
<p>Code <code>{code}</code>, usually with status {status} {phrase}.</p>
<p>{meaning}</p>
<p>{remedy}</p>
</html>
"""


def problem_page(code: str, problem_type: ProblemType) -> str:
    return _PAGE.format(
        title=html.escape(problem_type.title),
        code=html.escape(code),
        status=problem_type.status,
        phrase=HTTPStatus(problem_type.status).phrase,
        meaning=html.escape(problem_type.meaning),
        remedy=html.escape(problem_type.remedy),
    )
