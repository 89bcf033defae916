"""A stamp may only ever claim what is true: that its folder was finished, from just these inputs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tools.setup import stamps


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    made.mkdir()
    return made


def test_a_folder_is_finished_only_for_what_it_was_made_from(folder: Path) -> None:
    assert not stamps.is_finished(folder, "lock 1")

    stamps.mark_finished(folder, "lock 1")

    assert stamps.is_finished(folder, "lock 1")
    assert not stamps.is_finished(folder, "lock 2")
    assert [entry.name for entry in folder.iterdir()] == [".setup-stamp"]


def test_a_missing_folder_is_not_finished_and_can_be_discarded(tmp_path: Path) -> None:
    stamps.discard(tmp_path / "never made")

    assert not stamps.is_finished(tmp_path / "never made", "lock 1")


def test_an_interrupted_removal_leaves_no_stamp(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stamps.mark_finished(folder, "lock 1")

    def interrupted(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stamps.discard(folder)

    assert folder.exists()
    assert not stamps.is_finished(folder, "lock 1")


def test_discarding_a_link_leaves_what_it_points_to(folder: Path, tmp_path: Path) -> None:
    (folder / "precious").touch()
    link = tmp_path / "link"
    link.symlink_to(folder)

    stamps.discard(link)

    assert not link.exists()
    assert (folder / "precious").exists()


def test_the_digest_follows_contents_and_facts_but_not_times(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text("a==1\n")
    before = stamps.digest([lock], "3.11")

    os.utime(lock, (0, 0))
    assert stamps.digest([lock], "3.11") == before
    assert stamps.digest([lock], "3.13") != before

    lock.write_text("a==2\n")
    assert stamps.digest([lock], "3.11") != before


def test_the_digest_knows_where_one_file_ends(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("ab")
    second.write_text("c")
    before = stamps.digest([first, second])

    first.write_text("a")
    second.write_text("bc")

    assert stamps.digest([first, second]) != before
