"""The files that a run leaves: outcomes, the checker's options, and a sheet for the eye."""

from __future__ import annotations

import html
import json
import os
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from thumbline.domain.presets import DEFAULT_PRESET_NAME, Preset
from thumbline.domain.signatures import ACCEPTED
from tools.corpus.outcomes import Outcome
from tools.corpus.run import printable

_WHITE = "255,255,255"
_STYLE = """
body { font: 14px system-ui, sans-serif; margin: 2rem; background: #f6f6f4; color: #222 }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 1rem }
figure { margin: 0; padding: .75rem; background: #fff; border: 1px solid #ddd; overflow-wrap: anywhere }
figure.failed, figure.pending { border-color: #c00 }
img { display: block; max-width: 100%; margin: 0 auto .5rem;
      background: repeating-conic-gradient(#ddd 0 25%, #fff 0 50%) 0 / 16px 16px }
.swatch { display: inline-block; width: 1em; height: 1em; vertical-align: middle; border: 1px solid #999 }
small { color: #666 }
"""


class ProductLimits:
    """The deployed stack's own box, fit and pixel limit, read from the template that deployed it."""

    def __init__(self, template: Mapping[str, Any]) -> None:
        """Raises KeyError where no function of the template renders pictures."""
        environments = [
            resource["Properties"].get("Environment", {}).get("Variables", {})
            for resource in template["Resources"].values()
            if resource["Type"] == "AWS::Lambda::Function"
        ]
        merged = {name: value for variables in environments for name, value in variables.items()}
        presets = [Preset.from_record(record) for record in json.loads(merged["THUMBLINE_PRESETS"])]
        self._preset = next(preset for preset in presets if preset.name == DEFAULT_PRESET_NAME)
        self._max_pixels = int(merged["THUMBLINE_MAX_PIXELS"])

    def checker_arguments(self) -> list[str]:
        """Options of the corpus checker, which state what this product promises."""
        return [
            *("--box", f"{self._preset.width}x{self._preset.height}"),
            *("--fit", self._preset.fit),
            *("--formats", ",".join(kind.name for kind in ACCEPTED)),
            *("--max-pixels", str(self._max_pixels)),
            *("--background", _WHITE),
        ]


def write_report(out: Path, outcomes: Mapping[Path, Outcome], limits: ProductLimits) -> None:
    records = {path.name: outcome.to_record() for path, outcome in outcomes.items()}
    # Escaped: a name may hold bytes that no encoding knows.
    (out / "outcomes.json").write_text(json.dumps(records, indent=1) + "\n")
    (out / "checker-args").write_text(shlex.join(limits.checker_arguments()) + "\n")
    (out / "index.html").write_text(contact_sheet(outcomes), encoding="utf-8")


def tally(outcomes: Mapping[Path, Outcome]) -> str:
    counts = Counter(outcome.verdict for outcome in outcomes.values())
    return (
        f"corpus: {len(outcomes)} files, {counts['succeeded']} succeeded, {counts['rejected']} rejected, "
        f"{counts['failed']} failed, {counts['pending']} pending"
    )


def contact_sheet(outcomes: Mapping[Path, Outcome]) -> str:
    """One page with every thumbnail, its size and its reason; it needs nothing but the folder beside it."""
    figures = "\n".join(_figure(path, outcome) for path, outcome in outcomes.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Thumbline corpus</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>{html.escape(tally(outcomes))}</h1>\n"
        f"<main>\n{figures}\n</main></body></html>\n"
    )


def _figure(path: Path, outcome: Outcome) -> str:
    name = html.escape(printable(path))
    picture = ""
    if outcome.thumbnail is not None:
        link = "thumbnails/" + quote(os.fsencode(outcome.thumbnail))
        picture = f'<img src="{link}" alt="{name}" loading="lazy">'
    facts = [f"{outcome.verdict}, {outcome.seconds:.2f} s"]
    if outcome.width is not None:
        facts.append(f"{outcome.width} x {outcome.height}")
    swatch = ""
    if outcome.dominant_colour is not None:
        swatch = f'<span class="swatch" style="background:{html.escape(outcome.dominant_colour)}"></span> '
    words = [html.escape(text) for text in (outcome.reason, *outcome.notes) if text]
    said = "".join(f"<br><small>{text}</small>" for text in words)
    return (
        f'<figure class="{outcome.verdict}">{picture}<figcaption><b>{name}</b><br>{swatch}'
        f"{' · '.join(facts)}{said}</figcaption></figure>"
    )
