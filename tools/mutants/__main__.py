"""`make mutants`: the table of mutants and their killers, and the sum as the last line."""

from __future__ import annotations

import sys

from tools.mutants.catalogue import ALL_MUTANTS
from tools.mutants.mutant import Mutant, StaleMutantError
from tools.mutants.trial import Verdict, judge, pass_unharmed, prepare


def main() -> int:
    prepare()
    sound, output = pass_unharmed(sorted({mutant.killed_by for mutant in ALL_MUTANTS}))
    if not sound:
        print(f"a killing test fails on the code as it is:\n{output}")
    killed = sum(_is_killed(mutant) for mutant in ALL_MUTANTS)
    alive = len(ALL_MUTANTS) - killed
    print(f"mutants: {killed} killed, {alive} alive")
    return 0 if sound and not alive else 1


def _is_killed(mutant: Mutant) -> bool:
    try:
        verdict, output = judge(mutant)
    except StaleMutantError as error:
        verdict, output = Verdict.BROKEN, str(error)
    print(f"{verdict:7} {mutant.name:45} {mutant.killed_by}", flush=True)
    if verdict is Verdict.BROKEN:
        print(output)
    return verdict is Verdict.KILLED


if __name__ == "__main__":
    sys.exit(main())
