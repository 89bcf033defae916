"""`python -m tools.corpus DIR OUT`: a folder of pictures through the running stack, or one of its own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.client import ImageApi
from tools.corpus.files import FolderError, corpus_files
from tools.corpus.report import ProductLimits, tally, write_report
from tools.corpus.run import CLIENTS, CorpusRun
from tools.demo.pictures import SAMPLE
from tools.local.assembly import AssemblyCache
from tools.local.errors import LocalStackError
from tools.local.interrupt import StopRequestedError, stop_on_signals
from tools.local.paths import Paths
from tools.local.progress import to_terminal
from tools.local.stack import running_stack


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.corpus", description=__doc__)
    parser.add_argument("folder", type=Path, help="the pictures")
    parser.add_argument("out", type=Path, help="where thumbnails, outcomes.json and index.html go")
    chosen = parser.parse_args(arguments)
    if chosen.folder == Path():
        print("Name the folder: make corpus DIR=pictures OUT=results", file=sys.stderr)
        return 2
    try:
        files = corpus_files(chosen.folder.expanduser())
        thumbnails = _empty_folder(chosen.out.expanduser())
        with stop_on_signals(), running_stack() as stack, ImageApi(stack.url, connections=CLIENTS) as api:
            limits = ProductLimits(AssemblyCache(Paths.default().assembly_cache).assembly.template())
            run = CorpusRun(api, thumbnails, to_terminal)
            run.warm_up(SAMPLE.read_bytes())
            outcomes = run.send(files)
    except (FolderError, LocalStackError) as error:
        print(error, file=sys.stderr)
        return 1
    except StopRequestedError:
        print("Stopped.", file=sys.stderr)
        return 130
    write_report(thumbnails.parent, outcomes, limits)
    print(f"\n{tally(outcomes)}\nLook at {thumbnails.parent / 'index.html'}")
    return 0 if {outcome.verdict for outcome in outcomes.values()} <= {"succeeded", "rejected"} else 1


def _empty_folder(out: Path) -> Path:
    """`out/thumbnails`, without what an earlier run left there. Raises FolderError."""
    thumbnails = out / "thumbnails"
    try:
        thumbnails.mkdir(parents=True, exist_ok=True)
        for left in thumbnails.iterdir():
            left.unlink()
    except OSError as error:
        raise FolderError(f"{thumbnails} cannot be used: {error.strerror}.") from error
    return thumbnails


if __name__ == "__main__":
    sys.exit(main())
