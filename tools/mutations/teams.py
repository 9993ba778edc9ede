"""Mistakes in the collectives of teams."""

from __future__ import annotations

from mutations.model import Program, in_file

TEAM = "include/starling/shmem/team.hpp"
MEETING = "include/starling/shmem/detail/meeting.hpp"
MESSAGE = "include/starling/shmem/detail/message.hpp"
FOLD = "include/starling/shmem/detail/fold.hpp"
GATHER = "include/starling/shmem/gather.hpp"
ALLTOALL = "include/starling/shmem/alltoall.hpp"
SYNC = "include/starling/shmem/sync.hpp"
SOURCE = "tests/mutate/teams.cpp"

PROGRAMS = {
    "teams": Program(
        (SOURCE,),
        tuple((header, (SOURCE,)) for header in (TEAM, MEETING, MESSAGE, FOLD, GATHER, ALLTOALL, SYNC)),
    ),
}

MUTATIONS = [
    *in_file(
        "teams",
        MEETING,
        ("a round without the credit of the one before", "    if (known_ + 1 >= round_) return;\n", "    return;\n"),
        (
            "a credit of one round too early",
            "    await(round_ - 1, 0, size(), false);\n",
            "    await(round_ - 2, 0, size(), false);\n",
        ),
        (
            "a round that all are known to be in before they are",
            "  STARLING_HD void heard_all() { known_ = round_; }\n",
            "  STARLING_HD void heard_all() { known_ = round_ + 1; }\n",
        ),
        (
            "the next program does not know how far the team was",
            "*progress_ = {round_, known_, kept_};",
            "*progress_ = {round_ - 1, known_, kept_};",
        ),
        ("an announcement that orders nothing", "    s.orders = orders;\n", "    s.orders = false;\n"),
        (
            "one word for rounds that order memory and those that do not",
            "    s.target = t_.entered(g_.index(), orders, me_).on(pe);\n",
            "    s.target = t_.entered(g_.index(), false, me_).on(pe);\n",
        ),
        (
            "an announcement of the round before",
            "put_signal(transfer_of(p, pe), announcement(pe, round_, orders));",
            "put_signal(transfer_of(p, pe), announcement(pe, round_ - 1, orders));",
        ),
        (
            "nothing for the last member",
            "    for (int i = me_ + 1; i < size(); ++i) f(i);\n",
            "    for (int i = me_ + 1; i < size() - 1; ++i) f(i);\n",
        ),
        (
            "one's own part is not awaited",
            "(g_.pe()), compare::ge, kept_, g_.pe(), op_, at_}",
            "(g_.pe()), compare::ge, 0, g_.pe(), op_, at_}",
        ),
        (
            "puts to one's own PE not counted",
            "announcement(g_.pe(), ++kept_, false)",
            "announcement(g_.pe(), kept_ = 1, false)",
        ),
        (
            "the last member is not awaited",
            "    await(round_, 0, size(), orders);\n",
            "    await(round_, 0, size() - 1, orders);\n",
        ),
    ),
    *in_file(
        "teams",
        TEAM,
        ("boxes and slots of one parity", "static_cast<index_t>(round % 2)", "static_cast<index_t>(round % 1)"),
        ("one slot for all members", "* memory_.capacity + from;", "* memory_.capacity + 0 * from;"),
        (
            "a number in a team of the other direction",
            "    const int i = distance / stride_;\n",
            "    const int i = distance / (stride_ < 0 ? -stride_ : stride_);\n",
        ),
    ),
    *in_file(
        "teams",
        SYNC,
        ("barrier without quiet", "  g.quiet();\n  sync(g, t, at);\n", "  sync(g, t, at);\n"),
        ("sync waits for nobody", "  m.await_all(true);\n", "  m.heard_all();\n"),
    ),
    *in_file(
        "teams",
        GATHER,
        (
            "members do not say that they are in a small broadcast",
            "    m.arrive();\n    detail::take_messages(m, dest, n, root, root + 1, own);\n",
            "    if (m.me() == root) m.arrive();\n    detail::take_messages(m, dest, n, root, root + 1, own);\n",
        ),
        (
            "a broadcast after which all are known to be there",
            "    detail::take_messages(m, dest, n, root, root + 1, own);\n",
            "    detail::take_messages(m, dest, n, root, root + 1, own);\n    m.heard_all();\n",
        ),
        ("a long broadcast is not awaited", "    m.await(m.round(), root, root + 1, false);\n", ""),
        (
            "a long fcollect is not awaited",
            "    m.keep(mine);\n    m.await_all();\n",
            "    m.keep(mine);\n    m.heard_all();\n",
        ),
        (
            "what follows in a collect is not awaited",
            "      m.template put<T>([&](int) { return part; });\n    m.await_all();\n",
            "      m.template put<T>([&](int) { return part; });\n    m.heard_all();\n",
        ),
        ("a collect whose parts all begin at the front", "    begin += count;\n", "    begin += 0 * count;\n"),
    ),
    *in_file(
        "teams",
        ALLTOALL,
        (
            "alltoalls is not awaited",
            "  m.keep(part(m.me()));\n  m.await_all();\n",
            "  m.keep(part(m.me()));\n  m.heard_all();\n",
        ),
        (
            "a small alltoall that sends all the same",
            "detail::word_of(own + i * n, n, k)",
            "detail::word_of(own + 0 * i, n, k)",
        ),
    ),
    *in_file(
        "teams",
        FOLD,
        (
            "the working memory is read before it is written",
            "    m.await_all();\n    m.keep(dest + start",
            "    m.heard_all();\n    m.keep(dest + start",
        ),
        ("parts are combined before they are there", "    m.await_all(in_place);\n", "    m.heard_all();\n"),
        (
            "combined parts are not awaited",
            "dest.on(pe) + mine, size(m.me())}; });\n    m.await_all();\n",
            "dest.on(pe) + mine, size(m.me())}; });\n    m.heard_all();\n",
        ),
        (
            "parts in place are overwritten while they are read",
            "    m.template put<T>(part, in_place);\n    m.await_all(in_place);\n",
            "    m.template put<T>(part, false);\n    m.await_all(false);\n",
        ),
        (
            "results are sent in the round of the parts",
            "    m.group().sync();\n    m.next();\n",
            "    m.group().sync();\n",
        ),
        (
            "an exscan with the caller's own",
            "what == operation::team_exscan ? m.me() :",
            "what == operation::team_exscan ? m.me() + 1 :",
        ),
    ),
]
