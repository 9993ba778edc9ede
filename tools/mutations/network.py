"""Mistakes in queue pairs: in the block's end, and in the card."""

from __future__ import annotations

from mutations.model import Program, in_file

DEVICE = "include/starling/device/network"
SENDER = f"{DEVICE}/sender.hpp"
CARRIER = f"{DEVICE}/carrier.hpp"
COMPLETION = f"{DEVICE}/completion.hpp"
CARD = "src/machine/network/card.cpp"
RULES = "src/machine/network/card_rules.hpp"
WARPS = "tests/mutate/cards.cpp"

# Where the block's end is compiled: check mode, and virtual devices that run.
ENDS = ("src/machine/check/card_calls.cpp", "src/machine/host/block_queues.cpp")

PROGRAMS = {
    "queues": Program(
        ("tests/mutate/queues.cpp", *ENDS, CARD),
        ((SENDER, ENDS), (CARRIER, ENDS), (COMPLETION, (*ENDS, CARD)), (CARD, (CARD,))),
    ),
    # Warps that share a queue, and wrong entries: what check mode does not play.
    "cards": Program((WARPS, CARD), ((SENDER, (WARPS,)), (CARD, (CARD,)), (RULES, (CARD,)))),
}

MUTATIONS = [
    *in_file(
        "queues",
        SENDER,
        ("no release before the doorbell", "    bus_.release();\n    while (", "    while ("),
        ("the doorbell record is not written", "    bus_.tell(*q_.record, big_endian(end & 0xffff));\n", ""),
        ("the record is one behind", "bus_.tell(*q_.record, big_endian(end & 0xffff));",
         "bus_.tell(*q_.record, big_endian((end - 1) & 0xffff));"),
        ("the record tells of one entry too many", "bus_.tell(*q_.record, big_endian(end & 0xffff));",
         "bus_.tell(*q_.record, big_endian((end + 1) & 0xffff));"),
        ("the doorbell before the entry",
         "    std::uint64_t control = 0;\n"
         "    for (std::uint64_t i = 0; i < n; ++i) control = write(first + i, orders[i], i + 1 == n);\n"
         "    if (!publish(first, n, control)) return 0;\n",
         "    const bool told = publish(first, n, q_.ring[(first + n - 1) & (q_.depth - 1)].word[0]);\n"
         "    for (std::uint64_t i = 0; i < n; ++i) (void)write(first + i, orders[i], i + 1 == n);\n"
         "    if (!told) return 0;\n"),
        ("a slot used again one early", "!wait(end - q_.depth)", "!wait(end - q_.depth - 1)"),
        ("a slot used again without waiting", "    if (end > q_.depth && !wait(end - q_.depth)) return 0;\n", ""),
        ("the index not patched beyond the ring", "o.index = static_cast<std::uint16_t>(number);",
         "o.index = static_cast<std::uint16_t>(number & (q_.depth - 1));"),
        ("indices compared as if they did not wrap", "unwrapped(s_.completed, index_of(last))",
         "static_cast<std::uint64_t>(index_of(last))"),
        ("quiet leaves out the last entry", "return wait(bus_.look(s_.reserved));",
         "return wait(bus_.look(s_.reserved) - 1);"),
        ("quiet does not wait", "return wait(bus_.look(s_.reserved));", "return !failed();"),
        ("a completion counts for the entry after it too", "bus_.set(s_.completed, entry_done + 1);",
         "bus_.set(s_.completed, entry_done + 2);"),
        ("fence is forgotten", "STARLING_HD void fence() const { bus_.set(s_.fence_next, 1U); }",
         "STARLING_HD void fence() const {}"),
        ("a template with the flags of another use",
         "keeps == unlike_others || q_.kept[slot] != keeps)",
         "keeps == unlike_others || q_.kept[slot] == unlike_others)"),
        ("what a slot keeps is not noted", "      q_.kept[slot] = keeps;\n", ""),
        ("the size is not patched", "    bus_.store(e.word[4], big_endian(fourth));\n", ""),
        ("the source is not patched", "    bus_.store(e.word[5], big_endian(fifth));\n", ""),
        ("the card is not told which completions were seen",
         "      bus_.tell(*q_.completion_record, big_endian(s_.polled & 0xffffffff));\n", ""),
        ("an error is read as not yet", "const bool came = is_new(last, number, q_.depth);",
         "const bool came = is_new(last, number, q_.depth) && !is_error(last);"),
        ("an error is read as done", "if (is_error(last) && !failed())", "if (is_error(last) && failed())"),
    ),
    *in_file(
        "queues",
        COMPLETION,
        ("the owner bit is not inverted from round to round", "return (number & depth) != 0;",
         "return (number & depth) == ~depth;"),
        ("an old completion is taken for a new one",
         "return kind != completion_kind::none && (last & 1) == static_cast<std::uint64_t>(owner_of(number, depth));",
         "return kind != completion_kind::none && number + depth > 0;"),
    ),
    *in_file(
        "queues",
        CARRIER,
        ("another context's completion is counted", "return context < 0 || context == of_queue;",
         "return context < 0 || context != of_queue;"),
        ("a signal without its fence", "    o.flags = fenced;\n", ""),
        ("a put gives its source back too early",
         "    return good && (!t.blocking || last == 0 || send_.wait(last));\n  }\n\n  // The signal comes",
         "    return good;\n  }\n\n  // The signal comes"),
        ("a put with a signal gives its source back too early",
         "return end != 0 && (!t.blocking || both[0].carries || send_.wait(end));", "return end != 0;"),
        ("a get returns before its data",
         "    return good && (!t.blocking || last == 0 || send_.wait(last));\n  }\n\n  // Gives the argument",
         "    return good;\n  }\n\n  // Gives the argument"),
        ("staging memory used again too early",
         "const bool good = end != 0 && (reached || send_.wait(end));\n      if (!reached) bus_.unlock_staging();",
         "const bool good = end != 0;\n      if (!reached) bus_.unlock_staging();"),
        ("an atomic operation's answer read too early", "const bool good = end != 0 && send_.wait(end);\n    old = 0;",
         "const bool good = end != 0;\n    old = 0;"),
        ("the far side's key is that of the own PE", "o.remote_key = q_.memory.key_of(q_.at_peer, address, bytes);",
         "o.remote_key = q_.own.key;"),
    ),
    *in_file(
        "queues",
        CARD,
        ("an atomic operation that is asked for again is done again",
         "  if (!w.done_at_peer) w.answer", "  w.answer"),
        ("entries with a fence wait for nothing", "if (earlier && under_way_[i].after_all()) return false;",
         "if (earlier && under_way_[i].after_all()) continue;"),
        ("a completion for entries that ask for none",
         "  if (w.result == status::ok && (w.what.flags & wants_completion) == 0) return;\n", ""),
    ),
    *in_file(
        "cards",
        SENDER,
        ("warps tell the card out of order",
         "    while (bus_.look(s_.published) != first) {\n"
         "      if (failed() || !bus_.pause(q_)) return false;\n"
         "    }\n", ""),
        ("a warp tells the card of what others have reserved",
         "    const std::uint64_t end = first + n;\n    bus_.tell(",
         "    const std::uint64_t end = bus_.look(s_.reserved);\n    bus_.tell("),
        ("two warps take the same places", "const std::uint64_t first = bus_.take(s_.reserved, n);",
         "const std::uint64_t first = bus_.look(s_.reserved);\n    bus_.set(s_.reserved, first + n);"),
        ("two warps count the same completion", "    if (bus_.exchange(s_.polling, 1U) != 0) return false;\n", ""),
    ),
    *in_file(
        "cards",
        RULES,
        ("any key is one of the near side's memory", "    const memory_region* here = region_of(memory, o.local_key);",
         "    const memory_region* here = &memory.regions[0];"),
        ("any key is one of the peer's memory", "  const memory_region* there = region_of(memory, o.remote_key);",
         "  const memory_region* there = &memory.regions[1];"),
        ("a range at the near side is not looked at", " || !here->holds(o.local, o.bytes)", ""),
        ("a range at the far side is not looked at", " || !there->holds(o.remote, o.bytes)", ""),
        ("what nobody may write is written", " || (there->rights & at_peer) == 0", ""),
        ("another queue's entry is carried out", "o.queue != place.queue || ", ""),
        ("an entry of another index is carried out", " || o.index != place.index", ""),
    ),
    *in_file(
        "cards",
        CARD,
        ("what comes after an error is carried out", "failed_ ? status::flushed : judge(", "judge("),
        ("what is refused is carried out all the same", "    w.gathered = true;        // and nothing to write\n", ""),
    ),
]  # fmt: skip
