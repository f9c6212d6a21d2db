"""Markdown as far as parsers need it: front matter, sections, fields, items and table rows. Pure; it takes any text.

What stands in a code block is text and nothing else: a heading, a field or a list in one is an example of somebody's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..language.tables import MONTHS
from .patterns import Patterns

_RE = Patterns("markdown")
MAX_VALUE = 2000  # characters of a field's value
_MONTHS = {name[:3]: n for n, name in enumerate(MONTHS, 1)}


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it, up to the next heading of any level; `path` holds the headings above too."""

    level: int
    title: str
    path: tuple[str, ...]
    body: str


def opening(parts: Sequence[Section]) -> str:
    """What stands before the first heading below the title: where fields are written."""
    kept: list[str] = []
    for part in parts:
        if part.level > 1 and kept:
            break
        kept.append(part.body)
    return "\n".join(kept[:3])


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields at the top of a file, lists joined by commas, and the rest.

    >>> front_matter("---\\nstatus: accepted\\ntags: [a, b]\\n---\\n# Title")
    ({'status': 'accepted', 'tags': 'a, b'}, '# Title')
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = _RE.front.match(text)
    if not found:
        return {}, text
    fields: dict[str, str] = {}
    name = ""
    for line in found[1].split("\n"):
        if line.lstrip().startswith("#"):
            continue
        if pair := _RE.pair.fullmatch(line):
            name = pair[1].strip().lower()
            fields[name] = _scalar(pair[2] or "")
        elif name and (item := re.fullmatch(r"[ \t]*-[ \t]+(.*)|[ \t]+(\S.*)", line)):
            value = _scalar(item[1] if item[1] is not None else item[2])
            fields[name] = ", ".join(part for part in (fields[name].strip("|> "), value) if part)
    return fields, text[found.end() :]


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].strip()
    if value.startswith("[") and value.endswith("]") and "](" not in value:
        return ", ".join(_scalar(part) for part in value[1:-1].split(",") if part.strip())
    return value


def lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is part of a code block."""
    fence = ""
    for line in text.split("\n"):
        mark = _RE.fence.fullmatch(line)
        if fence:
            yield line, True
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            yield line, True
        else:
            yield line, False


def prose(text: str) -> str:
    """The text without its code blocks and comments."""
    return "\n".join(line for line, code in lines(_RE.comment.sub("", text)) if not code)


def sections(text: str) -> list[Section]:
    """The sections of a text in their order; what stands before the first heading is one of level 0.

    >>> [(s.path, s.body) for s in sections("# A\\none\\n## B\\ntwo")]
    [(('A',), 'one'), (('A', 'B'), 'two')]
    """
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    level, title, body = 0, "", list[str]()

    def close() -> None:
        told = "\n".join(body).strip("\n")
        if level or told.strip():
            found.append(Section(level, title, tuple(name for _, name in above), told.strip()))

    for line, code in lines(_uncommented(text)):
        heading = None if code else _RE.heading.fullmatch(line)
        below = None if code or heading else _RE.underline.fullmatch(line)
        if heading:
            close()
            level, title, body = len(heading[1]), plain(heading[2] or ""), []
        elif below and _may_be_title(body, below[1]):
            title_line = body.pop()
            close()
            level, title, body = 1 if below[1][0] == "=" else 2, plain(title_line), []
        else:
            body.append(line)
            continue
        above = [one for one in above if one[0] < level]
        above.append((level, title))
    close()
    return found


def _may_be_title(body: list[str], line: str) -> bool:
    """Whether a line above dashes is a heading: a paragraph of one line, and no list, table or quote."""
    if not body or not body[-1].strip() or body[-1].lstrip()[0] in "-*+>|#`" or body[-1].startswith(("    ", "\t")):
        return False
    return (len(body) == 1 or not body[-2].strip()) and (line[0] == "=" or len(body[-1].strip()) < 80)


def _uncommented(text: str) -> str:
    """Without comments, but with those in code blocks, which are examples."""
    if "<!--" not in text:
        return text
    kept, rest, buffer = list[str](), False, list[str]()
    for line, code in lines(text):
        if code != rest:
            kept.append(_RE.comment.sub("", "\n".join(buffer)) if not rest else "\n".join(buffer))
            buffer, rest = [], code
        buffer.append(line)
    kept.append(_RE.comment.sub("", "\n".join(buffer)) if not rest else "\n".join(buffer))
    return "\n".join(part for part in kept if part or part == "")


def labelled(text: str, known: Callable[[str], object], is_field: Callable[[str], bool] | None = None) -> str:
    """The text with labels as the headings that they stand for, where `known` knows their name.

    Bold labels everywhere; with `is_field` also plain ones in the opening, each up to the next field.

    >>> labelled("## Why\\n**Decision:** go\\n**Note:** no", lambda name: name == "Decision")
    '## Why\\n### Decision\\ngo\\n**Note:** no'
    >>> labelled("Cause: disk\\nfull\\nSeverity: 2", lambda name: name == "Cause", lambda name: name == "Severity")
    '## Cause\\ndisk\\nfull\\n## \\nSeverity: 2'
    """
    kept: list[str] = []
    level, is_open = 1, False
    for line, code in lines(text):
        heading = None if code else _RE.heading.fullmatch(line)
        bold = None if code or heading or len(line) > 20_000 else _RE.label.fullmatch(line.rstrip())
        if heading:
            level, is_open = len(heading[1]), False
        label = bold if bold and (bold[2] is None or re.search("[:.]", line[: bold.start(2)])) else None
        if label is None and is_field and level == 1 and not code and len(line) <= 20_000:
            label = _RE.plain_label.fullmatch(line.rstrip())
            if label and is_field(label[1]):
                kept += ["## "] if is_open else []
                label, is_open = None, False
        if label and known(label[1].strip()):
            is_open = label is not bold
            kept += [f"{'#' * min(level + 1, 6)} {label[1].strip()}", *([label[2]] if label[2] else [])]
        else:
            kept.append(line)
    return "\n".join(kept)


def unlabelled(text: str, is_field: Callable[[str], bool]) -> str:
    """What a text says beside its fields, and beside a table that holds them.

    >>> unlabelled("Team: a\\nDown.\\nNote: not the API.\\n\\n| Team | x |", lambda name: name.lower() == "team")
    'Down.\\nNote: not the API.'
    """
    table = any(is_field(plain(cells[0])) for cells in rows(text) if cells)
    told = (line for line, _ in lines(text) if not (table and line.lstrip().startswith("|")))
    return "\n".join(line for line in told if not ((found := _RE.field.fullmatch(line)) and is_field(found[1]))).strip()


def plain(text: str) -> str:
    """A line without marks of emphasis, without the targets of its links, and without what is struck out.

    >>> plain("Use **[RDS](x.md)** for `sql`"), plain("Use ~~Kafka~~ SQS")
    ('Use RDS for sql', 'Use SQS')
    """
    text = _RE.struck.sub("", text)
    for _ in range(3):
        text, before = _RE.link.sub(r"\1", text), text
        if text == before:
            break
    return re.sub(r"\s+", " ", _RE.marks.sub("", text)).strip()


def fields(text: str) -> dict[str, str]:
    """Lines that name a field: `Date: …`, `* Status: …`, `**Severity:** …`, or cells of a table.

    A table of two columns has a field in each row, unless its head names two fields; a wider one has them in its head.

    >>> fields("- **Status**: accepted\\n| Service | billing |")
    {'status': 'accepted', 'service': 'billing'}
    """
    found: dict[str, str] = {}
    names: list[str] = []  # of the columns of a wider table, whose first row holds their values
    for line, code in ((part, code) for whole, code in lines(text) for part in _RE.several.split(whole)):
        if code or len(line) > 2000:
            continue
        if line.lstrip().startswith("|"):
            cells = row(line)
            if _RE.rule.fullmatch(line):
                continue
            if len(cells) == 2 and not names and not _RE.column.fullmatch(plain(cells[1]).strip(": ")):
                found.setdefault(plain(cells[0]).strip(": ").lower()[:60], cells[1][:MAX_VALUE])
            elif names:
                for name, value in zip(names, cells, strict=False):
                    found.setdefault(name, value[:MAX_VALUE])
            else:
                names = [plain(cell).strip(": ").lower()[:60] for cell in cells]
            continue
        names = []
        if one := _RE.field.fullmatch(line):
            found.setdefault(one[1].strip().lower(), one[2].strip().strip("*_").strip()[:MAX_VALUE])
    return {name: value for name, value in found.items() if name}


def row(line: str) -> list[str]:
    """The cells of a table's row."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))]


def rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text, without their rules; a row may lack its last bar."""
    told = (line for line, code in lines(text) if not code and line.lstrip().startswith("|"))
    return [row(line) for line in told if not _RE.rule.fullmatch(line)]


def items(text: str) -> list[str]:
    """The bullets of the first level, each with what belongs to it; where there are none, the paragraphs.

    >>> items("- one\\n  more\\n- two\\n  - inner"), items("A.\\n\\nB."), items("-")
    (['one\\nmore', 'two\\n- inner'], ['A.', 'B.'], [])
    """
    found: list[list[str]] = []
    paragraphs: list[list[str]] = [[]]
    least: int | None = None
    for line, code in lines(text):
        bullet = None if code else _RE.bullet.fullmatch(line)
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        if bullet and (least is None or indent <= least + 1):
            least = indent if least is None else min(least, indent)
            found.append([bullet[2] or ""])
        elif found and (indent > (least or 0) or code or (line.strip() and found[-1][-1].strip())):
            found[-1].append(line.strip() if not code else line)
        elif line.strip():
            if not paragraphs[-1] and found:
                paragraphs.append([])
            paragraphs[-1].append(line)
        elif found:
            found[-1].append("")
        if not line.strip() and paragraphs[-1]:
            paragraphs.append([])
    told = found if found else paragraphs
    return [whole for one in told if (whole := "\n".join(one).strip()) and whole.strip("-*_ ")]


def day(text: str) -> datetime | None:
    """The first whole day that a text names.

    >>> [str(day(told)).split()[0] for told in ("2017-06-30", "March 4th, 2021", "4 May 2020", "2022-05-??")]
    ['2017-06-30', '2021-03-04', '2020-05-04', 'None']
    >>> [str(day(told)).split()[0] for told in ("11-April-2023", "22-10-2024", "22/10/2024", "10/22/2024", "1/2/2024")]
    ['2023-04-11', '2024-10-22', '2024-10-22', '2024-10-22', 'None']
    """
    return next(days(text), None)


def days(text: str) -> Iterator[datetime]:
    """The whole days that a text names, in their order."""
    told = [(m.start(), m[1], m[2], m[3]) for m in _RE.iso.finditer(text)]
    for m in _RE.numbers.finditer(text):  # the day first, unless it cannot be; with slashes either may be meant
        first, second = sorted((m[1], m[3]), key=int) if max(int(m[1]), int(m[3])) > 12 else (m[3], m[1])
        if m[2] != "/" or int(second) > 12:
            told.append((m.start(), m[4], first, second))
    for m in _RE.named.finditer(text):
        number, name, year = (m[1], m[2], m[3]) if m[1] else (m[5], m[4], m[6])
        if month := _MONTHS.get(name[:3].lower()):
            told.append((m.start(), year, str(month), number))
    for _, year, month_, number in sorted(told):
        try:
            yield datetime(int(year), int(month_), int(number), tzinfo=UTC)
        except ValueError:  # the thirty-first of June
            continue


def month(text: str) -> datetime | None:
    """The first day of the month that a text names.

    >>> [str(month(told)).split()[0] for told in ("January, 2026", "2024-03", "Section 2024")]
    ['2026-01-01', '2024-03-01', 'None']
    """
    for found in _RE.month.finditer(text):
        number = _MONTHS.get((found[1] or "")[:3].lower()) or int(found[4] or 0)
        if 1 <= number <= 12:
            return datetime(int(found[2] or found[3]), number, 1, tzinfo=UTC)
    return None


def unnamed(title: str) -> bool:
    """Whether a title is a place to be filled in.

    >>> unnamed("Post-mortem: [incident title]"), unnamed("{short title}"), unnamed("[ADR-1] Use Kafka")
    (True, True, False)
    """
    return _RE.to_be_named.search(title) is not None


def is_template(stem: str) -> bool:
    """Whether a file is called a template: one that has a number other than 0 is a record about templates.

    >>> is_template("adr-template"), is_template("0000-template"), is_template("0007-new-adr-template")
    (True, True, False)
    """
    called = re.search(r"(?:^|[-_ .])template$|^template(?:[-_ .]|$)", stem, re.IGNORECASE)
    number = re.match(r"\D{0,6}(\d+)", stem)
    return called is not None and not (number and int(number[1][:9]))


def holes(texts: Iterable[str]) -> int:
    """How many places to be filled in there are: what tells a template from what was made of it."""
    return sum(len(_RE.placeholder.findall(text)) for text in texts)


def stem(path: str) -> str:
    """The name of a file without its suffix."""
    name = re.split(r"[\\/]", path)[-1]
    return name.rsplit(".", 1)[0] if "." in name[1:] else name


def is_form(path: str, text: str) -> bool:
    """Whether a file is what records are made of: called a template, or with a title that is still to be given."""
    body = front_matter(text)[1]
    head = next((part.title for part in sections(body) if part.title), "")
    if is_template(stem(path)) or unnamed(head):
        return True
    return "template" in stem(path).lower() and holes([prose(body)]) > 0


def by_role(
    parts: Sequence[Section], roles: Iterable[str], own: Callable[[Section, bool], str], between: str
) -> dict[str, str]:
    """The text of each role: sections that have it with those below them that have none of their own.

    `own` gives the role of a section; it is told whether a decision was found before it.
    """
    found: dict[str, list[str]] = {role: [] for role in roles}
    role, depth = "", 0
    for part in parts:
        if named := own(part, bool(found.get("decision"))):
            role, depth = named, part.level
            found[role].append(part.body)
        elif role and part.level > depth:
            found[role].append(f"{part.title}{between}{part.body}".strip())
        else:
            role = ""
    return {name: "\n\n".join(body for body in bodies if body) for name, bodies in found.items()}
