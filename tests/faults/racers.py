"""Races several processes for the last of a limit, for `test_racing`. Run as a program: a warm process forks them all.

Prints one line of JSON for each racer: the entries that it won, how often the limit was reached, and how it ended.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import LedgerUnavailable, LimitReached
from sfumato.ledger.ledger import Ledger

RACERS = 8
LOSS = Pure("0.1")


def to_make_the_book(address: str, racer: int, charges: int) -> dict[str, Any]:
    """Finds no book, makes it, and charges."""
    ledger = Ledger.open(address)
    ledger.open_account("visits", limit=Pure(charges))
    won = [ledger.charge("visits", LOSS, by=f"racer {racer}").receipt.entry for _ in range(charges // RACERS)]
    ledger.close()
    return {"won": won}


def for_the_last(address: str, racer: int, charges: int) -> dict[str, Any]:
    """Charges one after the other, its share of all."""
    ledger, won, refused = Ledger.open(address), [], 0
    for _ in range(charges // RACERS):
        try:
            won.append(ledger.charge("visits", LOSS, by=f"racer {racer}").receipt.entry)
        except LimitReached:
            refused += 1
    ledger.close()
    return {"won": won, "refused": refused}


def for_the_same_keys(address: str, racer: int, keys: int) -> dict[str, Any]:
    """Charges the same keys as all the others, beginning elsewhere; tells which permits it may use."""
    ledger, entries, usable = Ledger.open(address), {}, []
    for turn in range(keys):
        key = f"key {(turn + racer * keys // RACERS) % keys}"
        permit = ledger.charge("visits", LOSS, key=key, by=f"racer {racer}")
        entries[key] = permit.receipt.entry
        usable += [] if permit.used else [key]
    ledger.close()
    return {"entries": entries, "usable": usable}


def together(address: str, racer: int, charges: int) -> dict[str, Any]:
    """Spends as two analysts who collude, each below a cap, and now and then sets a part aside and gives it back."""
    ledger, won, refused, held = Ledger.open(address), [], 0, 0
    account = f"visits/analyst {racer % 2}"
    for turn in range(charges // RACERS):
        try:
            if turn % 10 == 5:
                part = f"visits/part {racer} {turn}"
                ledger.open_account(part, limit=Pure("0.5"), holds=True)
                held += 1
                won.append(ledger.charge(part, LOSS).receipt.entry)
                ledger.close_account(part)
            won.append(ledger.charge(account, LOSS).receipt.entry)
        except LimitReached:
            refused += 1
    ledger.close()
    return {"won": won, "refused": refused, "held": held}


def until_open(address: str) -> Ledger:
    """Opens a book, as often as it takes."""
    while True:
        try:
            return Ledger.open(address)
        except LedgerUnavailable:
            time.sleep(0.05)


def through_a_crash(address: str, racer: int, charges: int) -> dict[str, Any]:
    """Charges keys of its own, and each again until it is told that it stands."""
    ledger, entries, permits, unavailable = until_open(address), {}, 0, 0
    for turn in range(charges // RACERS):
        key = f"key {racer} {turn}"
        while key not in entries:
            try:
                permit = ledger.charge("visits", LOSS, key=key, by=f"racer {racer}")
                entries[key] = permit.receipt.entry
                permits += not permit.used
            except LedgerUnavailable:
                unavailable += 1
                time.sleep(0.05)
    ledger.close()
    return {"entries": entries, "permits": permits, "unavailable": unavailable}


def carelessly(address: str, racer: int, charges: int) -> dict[str, Any]:
    """Is wrong on purpose: it looks whether there is room below 2, and charges afterwards."""
    ledger, won = Ledger.open(address), []
    for _ in range(charges // RACERS):
        if ledger["visits"].spent.then(LOSS).within(Pure(2)):
            time.sleep(0.2)  # longer than all others take to look: at the last one that fits, several have looked
            won.append(ledger.charge("visits", LOSS, by=f"racer {racer}").receipt.entry)
    ledger.close()
    return {"won": won}


Race: TypeAlias = Callable[[str, int, int], dict[str, Any]]
ALL: tuple[Race, ...] = (to_make_the_book, for_the_last, for_the_same_keys, together, through_a_crash, carelessly)
RACES = {one.__name__: one for one in ALL}


def race(run: Race, address: str, count: int) -> list[dict[str, Any]]:
    """Lets all run at once, and gives what each tells."""
    starts, gate = os.pipe()
    pipes, children = [], []
    for racer in range(RACERS):
        reads, writes = os.pipe()
        if (child := os.fork()) == 0:
            os.close(gate)
            os.read(starts, 1)  # returns when the gate is closed
            try:
                told = run(address, racer, count)
            except BaseException as fault:
                told = {"fault": f"{type(fault).__name__}: {fault}"}
            with os.fdopen(writes, "w") as pipe:
                pipe.write(json.dumps(told))
            os._exit(0)
        os.close(writes)
        pipes.append(reads)
        children.append(child)
    os.close(gate)
    found = []
    for reads in pipes:
        with os.fdopen(reads) as pipe:
            found.append(json.loads(pipe.read()))
    for child in children:
        os.waitpid(child, 0)
    return found


if __name__ == "__main__":
    Ledger.open("memory:").open_account("visits", limit=LOSS)  # so that racers find everything loaded
    name, where, how_many = sys.argv[1:]
    begun = time.monotonic()
    ended = race(RACES[name], where, int(how_many))
    sys.stdout.write(json.dumps({"racers": ended, "seconds": time.monotonic() - begun}))
