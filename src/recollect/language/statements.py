"""Statements: whether a text tells something, so that it could be an answer at all. Pure.

A stored turn may be a question, a greeting, a "yes, continue", a command line or a piece of a tool's output. None of
these answers anything, however many words it shares with what is asked. Each sentence is looked at on its own, and one
that tells something is enough. When in doubt a sentence counts as telling something: a lost answer is worse than a weak
candidate. English, German, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese and Korean.
"""

from __future__ import annotations

import re

from .. import text
from ..grounding import hedged
from . import tables
from .tables import STOP_WORDS
from .terms import terms

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EDGES = " \t\"'“”„«»()[]*_`~:,;-–—•>"
_DRESS = re.compile(r"^(?:[-*•+]|\d{1,3}[.)]|#{1,6})\s+")

# -- questions --------------------------------------------------------------------------------------------------------

_LEAD = (
    r"^(?:(?:so|and|but|also|hey|hi|hello|ok(?:ay)?|btw|by the way|now|then|well|question|quick question|yes|no|thanks|"
    r"und|aber|also|et|mais|alors|y|pero|entonces|e|mas|então)\b[\s,:;.!-]*)*"
)
_INVERTS = (  # "Do the migrations first" and "Have the tests run" order something, so these two are not among them
    r"(?:is|are|was|were|am|can|could|should|would|will|shall|may|might|must|has|had|"
    r"(?:is|are|was|were|ca|could|should|wo|would|has)n['’]t)"
)
_ENDS_ASKING = re.compile(
    r"[?？؟][\s!?？\"'”»)*_]*$|[吗嗎][\s。!！]*$|(?:ですか|ますか|ませんか|でしょうか|のか)[\s。]*$|"
    r"(?:까|나요|인가요)[\s.]*$|^\s*¿"
)
_ASKS = re.compile(
    _LEAD + "(?:" + "|".join((
        rf"(?:what|why|how|who|whom|whose|where|when|which)(?:['’](?:s|re|d|ll|ve)\b| (?:{_INVERTS}|"
        r"(?:do|have|does|did)(?:n['’]t)?)\b)(?! (?:why|how|when|where|what|because|the reason)\b)",
        r"how (?:to|many|much|long|often|come|about|far)\b|what (?:about|if)\b",
        r"(?:what|which|whose) [\w.-]+ (?:do|does|did|can|could|should|would|will)\b",
        r"(?:do|have)(?:n['’]t)? (?:you|we|i|they|any\w*|all|both)\b|(?:does|did)(?:n['’]t)? (?!not\b)\w",
        rf"{_INVERTS} (?:you|we|i|it|this|that|there|they|he|she|the|our|my|your|their|its|these|those|any\w*|some\w*|"
        r"every\w*|all|both|an?)\b",  # and not "Should be 8080."
        r"(?:please |pls )*(?:tell|remind|show|explain|describe|give|let|help)(?: to)? (?:me|us)\b|any idea\b",
        r"(?:please |pls )*(?:explain|describe|list|find out|check|see) "
        r"(?:what|why|how|who|where|when|which|if|whether)\b",
        r"i(?:['’]d like| would like| want| need) to (?:know|understand|see)\b",
        r"i(?:['’]m| am) (?:wondering|curious)\b|i wonder\b",
        r"(?:können|könnten|sollen|sollten|müssen|haben|gibt|weißt|kannst|könntest|hast|habt|wollen|dürfen)"
        r" (?:wir|du|ihr|sie|es|ich|man)\b",
        r"(?:est-ce|qu['’]est-ce|(?:peux|pourrais|as|sais)-tu|(?:pouvez|pourriez|avez|savez)-vous|y a-t-il|faut-il|"
        r"(?:peut|doit)-on)\b",
        r"(?:puedes|puede|podrías|podemos|sabes|hay alg[uú]n\w*)\b",
        r"(?:você |vc )?(?:pode|poderia|consegue|sabe) (?:me|você|dizer|explicar)\b",
        r"请问|請問|为什么|為什麼|怎么|怎麼|如何|能不能|能否|可否|有没有|是否|是不是|哪|谁|誰",
        r"なぜ|どうして|どうやって|どこ|いつ|だれ",
    )) + ")",
    re.IGNORECASE,
)  # fmt: skip
# Words that ask only where the sentence goes on to its end in one go: "What matters: latency." tells something.
_OPENS_ASKING = re.compile(
    _LEAD + r"(?:what|why|how|who|whom|whose|where|which|wer|was|wann|wo|warum|wieso|weshalb|wie|welche[rsmn]?|wohin|"
    r"woher|wessen|qui|que|quoi|où|pourquoi|comment|combien|quel(?:le)?s?|qué|qui[eé]n(?:es)?|cuándo|dónde|por qu[eéê]|"
    r"cómo|cu[aá]l(?:es)?|cu[aá]nt[oa]s?|o que|quem|onde|qual|quais|quant[oa]s?|chi|cosa|che cosa|come|dove|quale|"
    r"quali|quanti|почему|как|что|где|когда|кто|как(?:ой|ая|ие|ое)|зачем|сколько)\b[^,:;.=–—]*$",
    re.IGNORECASE,
)  # fmt: skip

# -- talk that carries no content -------------------------------------------------------------------------------------

_FILLER = frozenset(tables.words("words", "filler"))
_FILLER_EAST_ASIAN = re.compile(
    r"^(?:你好|您好|大家好|早上好|晚上好|谢谢|謝謝|多谢|感谢|好的?|好吧|可以|对的?|對|是的?|不是|不|嗯|行|没问题|沒問題|继续|繼續|重试|"
    r"请|開始|开始|吧|了|你|您|こんにちは|こんばんは|おはよう|ありがとう|ございます|はい|いいえ|了解|です|しました|続けて|ください|"
    r"お願いします|どうぞ|안녕하세요|감사합니다|네|아니요|좋아요|계속|해주세요|@\w+|[\s、，。.!！~～,])+$"
)
# A short order that is done when the session ends. Longer ones, and "use", "keep" and "never", may be rules.
_ERRAND = re.compile(
    r"^(?:(?:please|pls|now|then|and|also|just|ok|okay|yes|great)\b[\s,]*)*(?:read|add|fix|make|write|run|rerun|create|"
    r"update|delete|remove|check|look|show|implement|try|rename|refactor|open|close|build|commit|push|merge|change|move|"
    r"give|find|search|generate|test|review|restart|redo|undo|revert|summari[sz]e|translate|init|execute|apply|do|go|"
    r"finish|complete|clean|debug|explain|verify|proceed|continue|resume|start|analy[sz]e)\b", re.IGNORECASE
)  # fmt: skip
_ERRAND_WORDS = 4

# -- what machines write ----------------------------------------------------------------------------------------------

_COMMAND = re.compile(
    r"^(?:[$%❯»!] ?\S.*|/[a-z][\w:-]*(?: .*)?|@\w+ (?:continue|try again|retry)\b.*|"
    rf"(?:{'|'.join(tables.words('words', 'programs'))})\b(?![,:;'’]| ?[-–—] ).*)$"
)
_PROSE = re.compile(
    r"\b(?:the|is|are|was|were|we|our|my|you|it|its|to|for|of|with|and|but|because|sure|must|should|never|always|not|"
    r"has|have|uses?|needs?|ahead|runs|lives|an?)\b|[.!](?<!\.\.\.)$",
    re.IGNORECASE,
)
_OUTPUT = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b"
    r"|\[(?:\w+ )?(?:info|warn(?:ing)?|error|debug|trace|fatal)\b|(?:error|fatal|npm (?:err|warn))(?:\[|!|:\s)"
    r"|\w+(?:\.\w+)*(?:error|exception)(?::|$)"
    r"|traceback \(most|file \"[^\"]+\", line \d|at \S+ \(?\S+:\d+|exit(?:ed)? (?:code|with|status)\b"
    r"|command (?:failed|exited)|@@ -\d|diff --git|index [0-9a-f]{7,}|\+\+\+ |--- \S"
    r"|[-dlcbs][-rwxst]{9}\b|total \d+$|(?:=+ )?\d+ (?:passed|failed)\b|[✓✔✗✘✖●⏺⎿└├│┌→]"
    r"|<([\w-]+)[^>]*>.*</\1>$|</?[\w-]+[^>]*>$|[{\[]\s*[\"'{\[]|\"[\w-]+\":"
    r"|(?:tool|bash|read|write|edit|grep|glob|task|webfetch)\("
    r"|(?:bash|shell|terminal|local_shell|run_shell_command|exec_command|apply_patch|write|edit|multiedit|write_file):\s"
    r"|(?:[\w.-]*/)*[\w.-]+\.\w+:\d+(?::\d+)?:|(?:\S+/)+\S*$|https?://\S+$|(?=\w*\d)(?=\w*[a-f])[0-9a-f]{7,40} \S)",
    re.IGNORECASE,
)


def is_statement(said: str, *, firm: bool = False) -> bool:
    """Whether a text tells something: not only questions, greetings, assent, command lines and output of tools.

    With `firm`, a sentence that takes itself back ("I think", "maybe") tells nothing either.

    >>> is_statement("What port does the gateway use?"), is_statement("Hi! The gateway listens on 8443. Why?")
    (False, True)
    >>> [is_statement(said) for said in ("yes, continue", "$ git status", "Welche Datenbank nutzen wir?", "好的，继续")]
    [False, False, False, False]
    >>> is_statement("I think it is 8080."), is_statement("I think it is 8080.", firm=True)
    (True, False)
    """
    return any(not firm or not hedged(sentence) for sentence in told(said))


def is_reply(said: str, asked: str) -> bool:
    """Whether a text tells something firmly, and more than the prompt that it is held against; a question it may
    confirm in the same words.

    >>> is_reply("Draw a fox for the home page", "draw a fox for our home page"), is_reply("Port 80.", "Which port?")
    (False, True)
    >>> is_reply("The port is 80.", "Is the port 80?")
    True
    """
    known = STOP_WORDS if is_question(asked) else {*terms(asked), *STOP_WORDS}
    return any(not known.issuperset(terms(sentence)) for sentence in told(said) if not hedged(sentence))


def told(said: str) -> list[str]:
    """The sentences of a text that tell something.

    >>> told("Hello! Which port?\\n$ make run\\nThe gateway listens on 8443.")
    ['The gateway listens on 8443.']
    """
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", _CODE.sub("\n\n", said)):
        for line in paragraph.splitlines():
            bare = _DRESS.sub("", line.strip())
            if _OUTPUT.match(bare):
                break  # what follows in the same paragraph is its continuation
            if not _is_command(bare):
                found += [part for part in text.sentences(bare) if not is_question(part) and not _is_filler(part)]
    return found


def is_question(sentence: str) -> bool:
    """Whether a sentence asks; many people leave the question mark out.

    >>> is_question("which database does billing use"), is_question("Should be 8080."), is_question("¿Dónde está?")
    (True, False, True)
    >>> is_question("What matters: latency."), is_question("When you deploy, run the migrations first.")
    (False, False)
    """
    bare = sentence.strip().lstrip(_EDGES)
    return bool(_ENDS_ASKING.search(bare) or _ASKS.search(bare) or _OPENS_ASKING.search(bare))


def _is_command(line: str) -> bool:
    return bool(_COMMAND.match(line)) and (line[:1] in "$%❯»!/@" or not _PROSE.search(line))


def _is_filler(sentence: str) -> bool:
    """Whether a sentence only keeps the talk going."""
    if _EAST_ASIAN.search(sentence):
        return bool(_FILLER_EAST_ASIAN.match(sentence.strip())) or len(_EAST_ASIAN.findall(sentence)) < 2
    words = [word.lower() for word in _WORD.findall(sentence)]
    if len(words) < 2 or all(word in _FILLER or len(word) == 1 for word in words):
        return True
    return len(words) <= _ERRAND_WORDS and bool(_ERRAND.match(sentence.strip(_EDGES)))
