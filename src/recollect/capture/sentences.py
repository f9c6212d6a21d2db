"""Sentences: which sort of sentence says something worth keeping. Pure.

Rules, not a model: each class is a pattern over one sentence, for what a person says, or for what an assistant says.
An assistant mostly tells what it is about to do, which is worth nothing tomorrow; so of its words only causes, fixes,
ways of doing things and firm statements about named things count. A person's word counts wherever it has the shape of a
rule, a wish, a decision, a correction, a name, a date or a statement about what is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .. import text
from ..language.meaning import faithful
from ..language.statements import is_question
from ..language.tables import MONTH, WEEKDAY
from ..remember.retraction import retraction

I = re.IGNORECASE  # noqa: E741 - the table below is long enough


@dataclass(frozen=True, slots=True)
class Class:
    """A sort of sentence: what kind of memory it becomes, how much it matters, and how it is filed."""

    name: str
    kind: str
    importance: int
    tags: tuple[str, ...] = ()


MARKED = Class("marked", "fact", 8, ("asked-for",))
RULE = Class("rule", "rule", 8)
DONT = Class("dont", "rule", 8, ("dont",))
PREFERENCE = Class("preference", "preference", 7)
DECISION = Class("decision", "decision", 7)
CORRECTION = Class("correction", "fact", 7, ("correction",))
RETRACTION = Class("retraction", "fact", 6, ("correction",))
PERSON = Class("person", "fact", 6, ("people",))
DEADLINE = Class("deadline", "fact", 7, ("deadline",))
PROCEDURE = Class("procedure", "procedure", 6)
CAUSE = Class("cause", "lesson", 6, ("cause",))
FACT = Class("fact", "fact", 5)

# -- what is never a statement ----------------------------------------------------------------------------------------

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^\s*(?:>|\|).*$", re.MULTILINE)
_HEADING = re.compile(r"^\s*#{1,6}\s+.*$", re.MULTILINE)
_PRIVATE = re.compile(r"<\s*(?P<end>/?)\s*private\b[^>\n]{0,200}>", I)
_SKIP = re.compile(r"(?<!\w)#skip\b", I)
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+")
_SPAN, _HIDDEN = re.compile(r"`[^`\n]+`"), re.compile(r"`(\d+)`")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|ca|dr|mrs?|ms|prof|st|fig)\.$", I)
# What an assistant says while it works, and what anybody says to keep the talk going.
CHATTER = re.compile(
    r"^(?:(?:good|great|perfect|ok(?:ay)?|right|nice|thanks?|expected|done|clean|all green|got it|sure|yes|"
    r"no problem|"
    r"absolutely|indeed|now|next|first|then|finally|also)\b[^\w`]*)*"
    r"(?:let me\b|let's (?:start|begin|see|look|check|continue|test|try)\b|i(?:['’]ll|['’]m going to| will|"
    r" am going to|"
    r"['’]ve| have| need to| added| updated| created| renamed| removed| fixed| ran| wrote| see\b| found\b)|"
    r"here(?:['’]s| is| are)\b|now (?:add|run|update|write|the|also|implement|i)\b|(?:still|re)?running\b|starting\b|"
    r"continuing\b|pushed\b|all \d+\b|\d+ tests?\b|as you can see\b|this (?:demonstrates|shows|will)\b|"
    r"when you run\b)", I
)  # fmt: skip
FLEETING = re.compile(
    r"\b(?:yet|for now|right now|just now|this time|at the moment|for the moment|currently working|"
    r"in a (?:minute|moment)|"
    r"hold on|wait|until i|before i|so far|still (?:compiling|running|failing))\b", I
)  # fmt: skip

# -- what names something ---------------------------------------------------------------------------------------------

_NAMED = re.compile(
    r"`[^`]+`|https?://|\b[\w-]+(?:\.[a-z][\w-]+)+\b|\b[\w-]+/[\w./-]+|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|"
    r"\b[A-Z][a-z]+[A-Z]\w+|\b[A-Z]{2,}\w*\b"
    r"|\b\w+\.(?:py|js|ts|ex|exs|rs|go|md|toml|ya?ml|json|sh|sql|lock)\b|\b\d[\d.:]*\b|(?<=[a-z,] )[A-Z][a-z]{2,}\b"
)
_THING = re.compile(
    r"\b(?:service|server|api|gateway|database|db|table|column|schema|repo(?:sitory)?|branch|cluster|queue|"
    r"worker|job|"
    r"pipeline|ci|build|tests?|suite|endpoint|port|url|host|config(?:uration)?|flags?|module|package|library|"
    r"dependency|frontend|backend|client|app|docs?|deploy(?:ment)?s?|releases?|cache|timeout|retention|layout|"
    r"component|"
    r"project|code ?base|migrations?|index|version|runtime|container|pod|key rotation|backups?|logs?|dashboard|team|"
    r"convention|secrets?|tokens?|keys?|users?|customers?|tenant|runner|environment|env|prod(?:uction)?|"
    r"staging)s?\b", I
)  # fmt: skip
_STATES = re.compile(
    r"\b(?:is|are|was|were|lives?|lies?|runs?|listens?|uses?|stores?|depends?|requires?|needs?|expects?|returns?|"
    r"supports?|has|have|contains?|goes|go|happens?|takes?|serves?|writes?|reads?|sends?|talks?|starts?|belongs?|"
    r"comes?|works?|calls?|validates?|launches|formats?|fetches|says|"
    r"(?:does|do|did|can|must|may|will|should|is|are|has|have)(?: not|n['’]t)|can(?:not| only)?|must|only works)\b", I
)  # fmt: skip
_OURS = re.compile(r"\b(?:we|we['’](?:re|ve|ll)|our|ours|us|my|the)\b", I)
_DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d-\d\d|{WEEKDAY}|{MONTH}|may \d|q[1-4]|tomorrow|tonight|next (?:week|month|quarter|year|sprint)|"
    r"end of (?:the )?(?:day|week|month|quarter|year|sprint)|eod|eow|\d{1,2}(?:st|nd|rd|th)|noon|midnight|"
    r"\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?)\b", I
)  # fmt: skip

# -- the classes, in the order they are asked -------------------------------------------------------------------------

_MARK = re.compile(
    r"(?:^|\s)#remember\b:?|^(?:please |pls |hey,? )*(?:remember|note|keep in mind|for the record|fyi|nb|important)"
    r"(?:\s*[:,]|\s+that\b)", I
)  # fmt: skip
_DONT = re.compile(
    r"^(?:please |pls |and |but |also |so |btw,? )*(?:we |you (?:should |must )?)?"
    r"(?:don['’]?t|do not|never|avoid|stop|no more|quit)\s+(?P<what>\w+)", I
)  # fmt: skip
_NONE = re.compile(
    r"^no (?!one\b|longer\b|need|way\b|reason|point|rush|problem|error|issue|doubt|difference|hurry|idea|worries|luck|"
    r"change|thanks)[\w -]+\b(?:allowed|permitted|on|in|into|to|without|before|after|until|unless|may|must|should|can|"
    r"from|outside|during)\b", I
)  # fmt: skip
_NOT_A_RULE = frozenset(
    """worry know think see understand have need remember believe mind care you forget bother get want like feel say
    recall hesitate here there now it that this push commit merge touch do start run""".split()
)
_RULE = re.compile(
    r"^(?:please )?(?:always|from now on|going forward|in (?:the )?future|henceforth)\b|,? (?:always|every time|"
    r"from now on)"
    r"[.!]?$|\b(?:you|we|i|one) (?:must |should )?always\b|\bmust (?:never|always|not)\b|\bnew (?:convention|"
    r"rule|policy)\b|"
    r"^(?:please )?(?:keep|make sure|ensure) (?:your |the |all |every )?\w+|\bwe (?:can['’]?t|cannot|may not|"
    r"must|never)\b|"
    r"\b(?:our|the) (?:convention|policy|rule|standard) is\b", I
)  # fmt: skip
_PREFERENCE = re.compile(
    r"\b(?:i|we) (?:really |strongly |much |generally |usually |always |do )?(?:prefer|favou?r|like|love|hate|"
    r"dislike|"
    r"can['’]?t stand|loathe|want you to always)\s+(?!it\b|this\b|that\b|th[eo]se\b|to know|the \w+|how\b|"
    r".{0,40}\bidea\b)\w|"
    r"\bi(?:['’]d| would) (?:rather|prefer)\b|\bmy (?:favou?rite|preferred|preference)\b[\w -]{0,40}\b(?:is|are)\b", I
)  # fmt: skip
_DECISION = re.compile(
    r"\bwe(?:['’]ve|['’]re| have| are)?(?: just| now| finally| already)? (?:decided|agreed|chose|chosen|picked|"
    r"settled|"
    r"went with|going with|opted|switched|migrated|moved|standardi[sz]ed|dropped|adopted|replaced|switching|"
    r"migrating|"
    r"moving)\b(?! yet)|\bwe(?:['’]ll| will) (?:use|go with|stick with|keep using)\b|\blet['’]?s (?:go with|use|"
    r"stick with|"
    r"keep)\b|\b(?:the )?decision(?: is|:| was)\b|\bi(?:['’]ve)? (?:chose|decided (?:on|to use|against)|"
    r"picked (?!up\b))", I
)  # fmt: skip
_UNDECIDED = re.compile(
    r"\b(?:haven['’]?t|have not|not|never|didn['’]?t|did we|should we)\b[^.]{0,20}\b(?:decided?|agreed?)", I
)
# "No production data is allowed" denies something; only a "no" that stands apart answers somebody.
_CORRECTION = re.compile(
    r"^(?:(?:no|nope|sorry|correction)(?:\s*[,:;.!-]+| (?=actually\b))|"
    r"(?:actually|wrong|that['’]?s (?:wrong|not (?:right|true|correct))|not quite|"
    r"i was wrong(?: about [^,.]+)?)\b[,:;.!\s-]+)\s*(?=\w)|,? not \S+[.!]?$|\binstead of\b|\bi meant\b", I
)  # fmt: skip
_LEAD = re.compile(
    r"^(?:(?:(?:no|nope|sorry|correction|well|oh|hey|ok(?:ay)?|not quite|i misspoke|my mistake|scratch that|"
    r"that['’]?s (?:wrong|not (?:right|true|correct)))\s*[,:;.!-]+(?=\s)|"
    r"(?:no|oh|ok(?:ay)?)(?= (?:actually|wait|sorry)\b)|"
    r"(?:actually|btw|by the way|also|and|but|so(?! that)|please note|hey)\b[,:;.!-]*)\s+)+", I
)  # fmt: skip
_RETRACTION = re.compile(
    r"\b(?:i misspoke|my mistake|scratch that|forget what i said|i take (?:that|it) back|i take back what i said|"
    r"disregard what i said|it(?:['’]s| is| was) (?:not true|a mistake|wrong) that)\b|"
    r"^(?:please |no, |sorry, )*forget (?:that|about) \w+|"
    r"\bthere(?:['’]s| is| are) no (?!need|way|reason|point|rush|problem|error|issue|doubt|difference|hurry)\w+|"
    r"\b(?:no longer|not any ?more)\b", I
)  # fmt: skip
_FORGET = re.compile(
    r"\b(?:(?:forget|disregard|ignore|scratch) (?:what|everything) i (?:just )?(?:said|told you|wrote) about|"
    r"i (?:take|took) (?:that|it|this|what i said) back about|i misspoke about|i take back what i said about|"
    r"^(?:please |no, |sorry, )*forget (?:that|about)|it(?:['’]s| is| was) (?:not true|a mistake|wrong) that)\s+"
    r"(?P<what>[^.,;!]+)", I
)  # fmt: skip
_SETS_RIGHT = re.compile(
    r"^(?:(?:actually|correction|i misspoke|my mistake|scratch that|that['’]?s (?:wrong|not (?:right|true|correct)))\b|"
    r"(?:no|nope|sorry)\s*[,:;.!-])", I
)  # fmt: skip
_TRAIL = re.compile(r"[,;:]?\s+(?:i misspoke|my mistake|my bad|sorry)(?P<end>[.!]?)$", I)
_PERSON = re.compile(
    r"\b(?:owned by|maintained by|responsible for|in charge of|on[- ]call|point of contact|tech lead|team lead|"
    r"(?:ask|contact|talk to|ping|go to) [A-Z]\w+|my name is|call me [A-Z]|i (?:maintain|own|lead|run|"
    r"work (?:on|at|for))\b|"
    r"i['’]?(?:m| am) (?:the|a|an) [\w -]*(?:engineer|developer|maintainer|lead|owner|manager|designer|architect))|"
    r"\b[A-Z][a-z]+(?: and [A-Z][a-z]+)? (?:owns?|maintains?|leads?|reviews?|approves?)\b"
)
_DUE = re.compile(
    r"\b(?:deadline|due|freeze|by|until|before|on|ends?|expires?|launch|demo|ship(?:s|ped)?|release|sunset|"
    r"deprecated|end of life|eol|switched off|go(?:es)? live|merged by|starts?)\b", I
)  # fmt: skip
_DUTY = re.compile(
    r"\b(?:deadline|due|freeze|must|needs? to be|has to be|wants?|have to|expires?|launch(?:es)?|demo|ships?|"
    r"sunset|eol|"
    r"end of life|switched off|goes? live|deprecated|happens?|release (?:is|goes|on))\b", I
)  # fmt: skip
_PROCEDURE = re.compile(
    r"^(?:to|in order to|for|when(?:ever)?|if) [^,]{3,80}, (?:please )?(?:just |always |you (?:need to|have to|"
    r"must|can) )?"
    r"(?:run|use|call|do|set|start|restart|type|add|go|open|execute|export|restart|talk|ask)\b|"
    r"\b(?:run|use|execute|call|set|export|restart) `[^`]+` (?:to|before|after|when|if|first|instead|for)\b|"
    r"\bthe (?:way|command) to \w+[^.]{0,60} is\b|`[^`]+` only works (?:when|if|with|after)\b|"
    r"\b(?:you|we) (?:need to|have to|must) (?:run|set|export|use|call) `", I
)  # fmt: skip
_CAUSE = re.compile(
    r"\b(?:root cause|the (?:real |actual )?(?:cause|culprit|reason|fix|solution|problem|issue|"
    r"bug)(?: here)? (?:was|is|were)\b"
    r"(?! (?:still|now|fixed|gone|that i))|caused by|(?:fail(?:s|ed|ing)?|slow|broken?|breaks?|crash(?:es|ed)?|"
    r"hangs?|"
    r"times? out|oom\w*) (?:\w+ ){0,3}because\b|turned out (?:that|to be)\b|which (?:\w+ )?(?:doesn['’]t|"
    r"does not|didn['’]t) "
    r"support|which will fail|(?:fixed|solved|resolved) (?:it|this|that|the \w+)\b|was fixed by)", I
)  # fmt: skip
_FIRM = re.compile(r"^(?:(?:The|No|All|Every|Each|Default|Our|This project(?:['’]s)?|According to)\b|\*{0,2}`[^`]+`)")
_HERE = re.compile(r"`[^`]+`|\b[\w-]+/[\w./-]+\w|\b\w+\.(?:py|js|ts|ex|exs|rs|go|md|toml|ya?ml|json|sh|sql|lock)\b")
_ADVICE = re.compile(r"\byou(?:r|rs|['’]\w+)?\b|^use\b|\b(?:such as|like) [A-Z]|\bmany\b", I)
_LIMIT = re.compile(
    r"\b(?:does(?:n['’]t| not)|can(?:['’]t|not)|only|never|always|no \w+ module|default|requires?|needs?|must|uses?|"
    r"runs? in|lives? in|listens? on|depends? on|written in|is stored|are stored)\b|`[^`]+`\*{0,2} (?:—|–|"
    r"-) (?!this is\b)[\w`]", I
)  # fmt: skip
_OF_SELF = re.compile(r"^(?:i\b|we can\b|as for me\b|speaking of\b)", I)  # how somebody is says nothing of the project
_WE_DO = re.compile(
    r"^we (?:also |always |only |usually |normally )?(?:use|deploy|build|test|ship|host|store|keep|write|"
    r"publish|release|"
    r"target|support|run)\s+\w", I
)  # fmt: skip
_ASKED = re.compile(
    r"^(?:please |pls |now |then |and |also |just )*(?:read|add|fix|make|write|run|create|update|delete|remove|"
    r"check|look|show|"
    r"implement|try|rename|refactor|explain|open|close|build|commit|push|merge|change|move|put|give|tell|find|search|"
    r"generate|use|install|set|start|stop|test|review|continue|go|do)\b", I
)  # fmt: skip
_BROKEN = re.compile(  # a state that the assistant is about to change is no fact
    r"\b(?:is(?:n['’]t| not) configured|is missing|are missing|was missing|undefined|unused|stale|not found|"
    r"no longer exists?|"
    r"doesn['’]t exist|does not exist|in[_ ]progress|is ready|task[s ]?\d|tests? pass|has \d+ tasks?)\b", I
)  # fmt: skip
# A dot inside a name, as in `ledger.entries`, does not end the reason.
REASON = re.compile(
    r"\b(?:because(?: of)?|since|so that|due to|as it|otherwise|in order to)\b\s*(?P<why>(?:[^.;]|\.(?=\w))+)", I
)
PRONOUN = re.compile(r"^(?:it|this|that|they|he|she|those|these|its|their|which|that['’]s|it['’]s)\b", I)


def public(content: str) -> str:
    """What a person lets us keep: without what is `<private>`, and nothing of a turn that says `#skip`.

    >>> public("<private>secret</private> go on"), public("#skip this one")
    ('go on', '')
    """
    if _SKIP.search(content):
        return ""
    kept, depth, place = [], 0, 0
    for mark in _PRIVATE.finditer(content):  # one inside of another ends only itself; one without an end is the rest
        if depth == 0:
            kept.append(content[place : mark.start()])
        depth = max(0, depth - 1) if mark["end"] else depth + 1
        place = mark.end()
    return "".join(kept if depth else [*kept, content[place:]]).strip()


def spoken(content: str) -> str:
    """What a turn says in its own words: without code, quotes and headings.

    >>> spoken("Use pnpm.\\n```\\nnpm i\\n```\\n> old")
    'Use pnpm.'
    """
    content = public(content)
    for pattern in (_CODE, _QUOTED, _HEADING):
        content = pattern.sub("", content)
    return content.strip()


def sentences(content: str) -> Iterator[str]:
    """The sentences of a turn, each as it stands there, bullets and abbreviations minded."""
    names: list[str] = []

    def hide(found: re.Match[str]) -> str:  # a dot inside of code ends no sentence
        names.append(found[0])
        return f"`{len(names) - 1}`"

    held = ""
    for part in text.sentences(_SPAN.sub(hide, spoken(content))):
        part = _BULLET.sub("", part).strip()
        held = f"{held} {part}" if held else part
        if not _ABBREVIATION.search(held):
            yield _HIDDEN.sub(lambda found: names[int(found[1])], held)
            held = ""
    if held:
        yield _HIDDEN.sub(lambda found: names[int(found[1])], held)


def classify(sentence: str, role: str) -> Class | None:
    """What sort of statement a sentence is, or None for talk.

    >>> classify("Don't use `any` in TypeScript.", "user").name, classify("Let me run the tests.", "assistant")
    ('dont', None)
    >>> classify("The build fails because `numpy` 2 changed its ABI.", "assistant").kind
    'lesson'
    """
    if role == "user":
        return _of_user(sentence)
    return _of_assistant(sentence) if role == "assistant" else None


def _of_user(sentence: str) -> Class | None:
    if _MARK.search(sentence):
        return MARKED
    if is_question(sentence) or len(sentence.split()) < 3:
        return None
    rest = _LEAD.sub("", sentence)
    if retraction(rest):
        return RETRACTION
    if _RETRACTION.search(sentence):
        return RETRACTION if _FORGET.search(sentence) or len(rest.split()) >= 4 else None
    if CHATTER.search(sentence) and not _DECISION.search(sentence):
        return None
    if (found := _DONT.match(rest)) and found["what"].lower() not in _NOT_A_RULE and not FLEETING.search(sentence):
        return DONT
    if _NONE.match(rest) and not FLEETING.search(sentence):
        return DONT
    if _DONT.match(rest) and "," not in rest:
        return None
    if _CORRECTION.search(sentence) and _STATES.search(rest):
        return CORRECTION
    for pattern, found_class in ((_RULE, RULE), (_PREFERENCE, PREFERENCE), (_PERSON, PERSON)):
        if pattern.search(rest) and not FLEETING.search(sentence):
            return found_class
    if _DECISION.search(sentence):
        return None if _UNDECIDED.search(sentence) else DECISION
    if _PROCEDURE.search(rest):
        return PROCEDURE
    if _CAUSE.search(sentence) and (_HERE.search(sentence) or _THING.search(sentence)):
        return CAUSE
    if _DATE.search(sentence) and _DUE.search(sentence) and _DUTY.search(sentence):
        return DEADLINE
    if FLEETING.search(sentence) or _ASKED.match(rest) or _OF_SELF.match(rest) or not _STATES.search(rest):
        return None
    if _WE_DO.search(rest):
        return FACT
    about = _OURS.search(rest) or _NAMED.search(rest)
    return FACT if about and _THING.search(rest) and (_NAMED.search(rest) or REASON.search(rest)) else None


def _of_assistant(sentence: str) -> Class | None:
    if is_question(sentence) or CHATTER.search(sentence) or FLEETING.search(sentence) or _BROKEN.search(sentence):
        return None
    if len(sentence.split()) < 4 or not (_HERE.search(sentence) or _THING.search(sentence)):
        return None
    if _CAUSE.search(sentence):
        return CAUSE
    if _PROCEDURE.search(sentence) and _HERE.search(sentence):
        return PROCEDURE
    if _ADVICE.search(sentence):
        return None
    return FACT if _FIRM.search(sentence) and _LIMIT.search(sentence) else None


def reason(sentence: str) -> str:
    """What a sentence gives as its reason, up to its end where less of it would say something else.

    >>> reason("We use pnpm because npm is slow; see it."), reason("We use pnpm because npm is slow; but not on ARM.")
    ('npm is slow', 'npm is slow; but not on ARM')
    """
    found = REASON.search(sentence)
    return faithful(found["why"].strip(), sentence[found.start("why") :].rstrip(" .!")) if found else ""


def forgets(sentence: str) -> str:
    """What a person takes back without saying anything in its place.

    >>> forgets("Forget what I said about the nightly job.")
    'the nightly job'
    """
    found = _FORGET.search(sentence)
    return found["what"].strip() if found else ""


def sets_right(sentence: str) -> bool:
    """Whether somebody says that something is otherwise than was said before.

    >>> sets_right("Actually we don't use Kafka."), sets_right("No deploys on Fridays.")
    (True, False)
    """
    return bool(_SETS_RIGHT.search(sentence) or _TRAIL.search(sentence))


def plain(sentence: str) -> str:
    """The statement itself: without markers and the little words that lead into it.

    >>> plain("No, actually: the port is 8081"), plain("remember: use tabs")
    ('The port is 8081', 'Use tabs')
    """
    rest = _TRAIL.sub(r"\g<end>", _LEAD.sub("", _MARK.sub(" ", sentence))).strip(" ,;:-*")
    if rest[:1].islower() and not re.match(r"\S*[A-Z_/.]\S", rest):
        rest = rest[0].upper() + rest[1:]
    return rest
