"""Which put released which wait."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starling.trace._spans import OP, Spans

Indices = NDArray[np.int64]


def flows_of(spans: Spans, tolerance: int) -> tuple[Indices, Indices]:
    """Pairs (put, wait), as indices of spans, in the order of the waits.

    A wait belongs to the put with the smallest value that satisfies it, among those on its signal; where a signal is
    added to, to the last put before its end. A packet belongs to the put_packets that sent its number there. A put that
    starts later than the wait's end by more than `tolerance` ns cannot be the one: then the right put was dropped.
    """
    from_signals = _signal_flows(spans, tolerance)
    from_packets = _packet_flows(spans)
    source = np.concatenate([from_signals[0], from_packets[0]])
    target = np.concatenate([from_signals[1], from_packets[1]])
    possible = spans.start[source] <= spans.end[target] + tolerance
    source, target = source[possible], target[possible]
    order = np.argsort(target, kind="stable")
    return source[order], target[order]


def _signal_flows(spans: Spans, tolerance: int) -> tuple[Indices, Indices]:
    puts = np.flatnonzero(np.isin(spans.op, (OP["put_signal"], OP["signal"])))
    waits = np.flatnonzero((spans.op == OP["wait"]) & spans.returned & (spans.bytes > 0))
    if not len(puts) or not len(waits):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # A wait for several signals counts once for each; the last of their puts released it.
    number = np.concatenate([np.arange(n) for n in spans.bytes[waits]])
    asks = np.repeat(waits, spans.bytes[waits])
    words = np.stack([spans.peer[puts], spans.signal[puts]], axis=1)
    wanted = np.stack([spans.pe[asks], spans.signal[asks] + 8 * number], axis=1)
    _, which = np.unique(np.concatenate([words, wanted]), axis=0, return_inverse=True)
    which = which.reshape(-1)
    put_word, ask_word = which[: len(puts)], which[len(puts) :]

    order = np.lexsort((spans.start[puts], spans.value[puts], put_word))
    puts, put_word = puts[order], put_word[order]
    by_word = np.argsort(ask_word, kind="stable")
    asks, ask_word = asks[by_word], ask_word[by_word]
    found = np.full(len(asks), -1, dtype=np.int64)
    for word in np.intersect1d(put_word, ask_word):
        mine = slice(*np.searchsorted(put_word, [word, word + 1]))
        theirs = slice(*np.searchsorted(ask_word, [word, word + 1]))
        found[theirs] = _released(spans, puts[mine], asks[theirs], tolerance)
    asks, found = asks[found >= 0], found[found >= 0]
    # The last put of each wait.
    order = np.lexsort((spans.start[found], asks))
    asks, found = asks[order], found[order]
    last = np.append(asks[1:] != asks[:-1], True)[: len(asks)]
    return found[last], asks[last]


def _released(spans: Spans, puts: Indices, waits: Indices, tolerance: int) -> Indices:
    """For each wait for one signal the put on it, or -1. The puts ascend by value, then start."""
    if spans.adds[puts].any():
        puts = puts[np.argsort(spans.start[puts], kind="stable")]
        at = np.searchsorted(spans.start[puts], spans.end[waits] + tolerance, side="right") - 1
        return np.where(at >= 0, puts[np.maximum(at, 0)], -1)
    at = np.searchsorted(spans.value[puts], spans.value[waits])
    return np.where(at < len(puts), puts[np.minimum(at, len(puts) - 1)], -1)


def _packet_flows(spans: Spans) -> tuple[Indices, Indices]:
    puts = np.flatnonzero(spans.op == OP["put_packets"])
    takes = np.flatnonzero((spans.op == OP["take_packet"]) & spans.returned)
    if not len(puts) or not len(takes):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    _, message = np.unique(np.concatenate([spans.value[puts], spans.value[takes]]), return_inverse=True)
    message = message.reshape(-1)
    to = np.concatenate([spans.peer[puts], spans.pe[takes]])
    # Packets are 16 bytes: message, PE and place as one number, so that one search finds the put at or before a packet.
    place = np.concatenate([spans.signal[puts], spans.signal[takes]]) // 16
    key = ((message * (int(to.max()) + 1) + to) << 34) | place
    put_key, take_key = key[: len(puts)], key[len(puts) :]
    order = np.argsort(put_key, kind="stable")
    puts, put_key = puts[order], put_key[order]
    at = np.searchsorted(put_key, take_key, side="right") - 1
    sent = puts[np.maximum(at, 0)]
    inside = (at >= 0) & (take_key - put_key[np.maximum(at, 0)] < spans.bytes[sent] // 8)
    return sent[inside], takes[inside]
