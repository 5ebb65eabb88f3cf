"""Damages a text as slips, machines and the malicious do: cut anywhere, words lost, doubled, swapped, odd signs."""

from __future__ import annotations

import re
from random import Random

_WORD = re.compile(r"\s+|\w+|'[^']*'|[^\w\s]")
SIGNS = ("(", ")", "((", "))", "[", "]", "{", "}", "'",
         '"', "`", "''", ";", ",", ",,", ".", "..", "*", "%", "@", "@@", "#", "$",
         "$1", "$$", "?", ":x", "::", ":=", "->", "->>", "=>", "|>", "||", "&&", "!", "!=", "~", "^", "\\",
         "--", "/*", "*/",
         "//", "<", ">", "<<", "=", "==", "+", "-", "1e", "0x", "1.2.3", "1_0", "é", "ß", "İ", "\u2028",
         "\u202e", "\ufeff",
         "\u00a0", "\x07", "\x1b[31m", "\U0001f4a9", "ｗ", "\t", "\r", "\n", "\x0b", "\0", "\ud800",
         "9" * 400)  # fmt: skip
WORDS = ("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT", "ON", "USING",
         "UNION", "ALL",
         "DISTINCT", "AS", "AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "CASE", "WHEN", "THEN",
         "ELSE", "END",
         "CAST", "INTERVAL", "OVER", "PARTITION BY", "FILTER", "WITHIN GROUP", "LATERAL", "UNNEST", "VALUES",
         "WITH", "EXISTS",
         "ANY", "ARRAY", "STRUCT", "MAP", "ROW", "DATE", "TIMESTAMP", "EXTRACT", "COUNT", "SUM", "OFFSET",
         "FETCH", "ROLLUP",
         "GROUPING SETS", "QUALIFY", "PIVOT", "FOR", "WINDOW", "COLLATE", "ESCAPE", "AT TIME ZONE", "PRIOR",
         "CONNECT BY",
         "TABLESAMPLE", "DECIMAL", "TRY_CAST", "COLUMNS", "EXCLUDE", "REPLACE", "IF", "INTO", "SET", "DEFAULT",
         "RETURNING")  # fmt: skip


def damaged(text: str, draw: Random) -> str:
    """The text after one to three accidents."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        text = draw.choice(_ACCIDENTS)(text, draw)
    return text


def _cut(text: str, draw: Random) -> str:
    place = draw.randrange(len(text) + 1)
    return text[:place] if draw.random() < 0.8 else text[place:]


def _lose(text: str, draw: Random) -> str:
    words = _WORD.findall(text)
    place = draw.randrange(len(words) + 1)
    return "".join(words[:place] + words[place + draw.randint(1, 3) :])


def _double(text: str, draw: Random) -> str:
    words = _WORD.findall(text)
    place, length = draw.randrange(len(words) + 1), draw.randint(1, 4)
    again = words[place : place + length]
    return "".join([*words[:place], *again, draw.choice(["", " "]), *words[place:]])


def _swap(text: str, draw: Random) -> str:
    words = _WORD.findall(text)
    if len(words) < 2:
        return text
    a, b = draw.randrange(len(words)), draw.randrange(len(words))
    words[a], words[b] = words[b], words[a]
    return "".join(words)


def _insert(text: str, draw: Random) -> str:
    words = _WORD.findall(text)
    place = draw.randrange(len(words) + 1)
    return "".join([*words[:place], " ", draw.choice(SIGNS + WORDS), draw.choice(["", " "]), *words[place:]])


def _replace(text: str, draw: Random) -> str:
    words = _WORD.findall(text)
    if not words:
        return text
    words[draw.randrange(len(words))] = draw.choice(SIGNS + WORDS)
    return "".join(words)


def _misspell(text: str, draw: Random) -> str:
    if len(text) < 2:
        return text
    place = draw.randrange(len(text) - 1)
    return draw.choice(
        [
            text[:place] + text[place + 1] + text[place] + text[place + 2 :],
            text[:place] + text[place + 1 :],
            text[:place] + text[place] * 2 + text[place + 1 :],
            text[:place] + draw.choice("abcxyz_019 ") + text[place + 1 :],
        ]
    )


def _dress(text: str, draw: Random) -> str:
    """Changes that should not matter: comments, lines, letters."""
    words = _WORD.findall(text)
    place = draw.randrange(len(words) + 1)
    comment = draw.choice(
        ["/* x */", "-- x\n", "/* ' */", '-- "\n', "/* /* */ */", "# x\n", "\n\n", "\r\n", "--\n", "/**/"]
    )
    text = "".join([*words[:place], " ", comment, " ", *words[place:]])
    return draw.choice([text, text.lower(), text.upper(), text.swapcase(), f"{text};", f"({text})"])


_ACCIDENTS = (_cut, _lose, _double, _swap, _insert, _insert, _replace, _misspell, _dress)


def extreme(draw: Random) -> str:
    """Very deep or very long."""
    many = draw.choice([20, 60, 300, 3000])
    start = "SELECT COUNT(*) FROM posts WHERE "
    opening, inner, closing = draw.choice(
        [("(", "closed", ")"), ("NOT ", "closed", ""), ("- ", "score", " > 1"), ("ABS(", "score", ")"),
         ("CASE WHEN closed THEN ", "closed", " END"), ("COALESCE(closed, ", "closed", ")"), ("[", "1", "]"),
         ("EXISTS (SELECT 1 FROM posts WHERE ", "closed", ")"), ("CAST(", "score", " AS BIGINT)"), ("score[",
         "1", "]"),
         ("{'a': ", "1", "}"), ("INTERVAL ", "'1'", " DAY"), ("closed AND ", "closed", ""), ("closed OR ",
         "closed", ""),
         ("score + ", "1 > 0", ""), ("title || ", "'x' = 'y'", ""), ("x -> ", "x", ""), ("score::INT + ",
         "1 > 2", ""),
         ("score IN (1, ", "2", ")"), ("f(", "x", ")"), ("CAST(score AS STRUCT<a: ", "INT", ">)"), ("~", "score", ""),
         ("score IN (SELECT score FROM posts LIMIT (", "1", "))"), ("score LIMIT (", "1", ")"), ("@", "score", ""),
         ("DATE ", "'x'", ""), ("a.", "b", ""), ("score BETWEEN 1 AND ", "2", ""), ("title LIKE ", "'x'", ""),
         ("CASE ", "closed", " WHEN 1 THEN 2 END")]
    )  # fmt: skip
    lists = [
        f"SELECT COUNT(*) FROM posts WHERE score IN ({', '.join(map(str, range(many)))})",
        f"SELECT {', '.join(['COUNT(*)'] * many)} FROM posts",
        f"SELECT COUNT(*) FROM {', '.join(f'posts p{i}' for i in range(many))}",
        "SELECT COUNT(*) FROM " + "(SELECT * FROM " * many + "posts" + ")" * many,
        f"SELECT COUNT(*) FROM posts GROUP BY {', '.join(['kind'] * many)}",
        f"WITH {', '.join(f'c{i} AS (SELECT * FROM posts)' for i in range(many))} SELECT COUNT(*) FROM c0",
        f"SELECT COUNT(*) FROM posts {'JOIN posts ' * many}",
        f"SELECT COUNT(*) FROM posts {'UNION SELECT 1 ' * many}",
        f"SELECT COUNT(*) FROM posts WHERE {'x' * many} = 1",
        f"SELECT COUNT(*) FROM posts WHERE {'(' * many}",
        f"SELECT COUNT(*) FROM posts{' ' * many}WHERE{chr(10) * many}closed",
        f"SELECT COUNT(*) FROM posts WHERE {chr(39) * many}",
        f"SELECT COUNT(*) FROM posts /*{'/*' * many}",
        f"{'WITH x AS (' * many}SELECT 1",
        f"SELECT {'SELECT ' * many}",
    ]
    nested = start + opening * many + inner + closing * many
    return draw.choice([nested, nested, draw.choice(lists)])
