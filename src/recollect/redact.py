"""Redaction: what looks like a secret is replaced before any text is stored, logged or embedded.

A memory outlives the conversation it came from, so a key that slips in once leaks for years. All that is known about
the look of secrets is one table: a kind, the literals of which one must occur, and a pattern. Most texts hold none of
the literals, and cost some substring searches and nothing else. A pattern without a group is a token and gets word
boundaries; a pattern with a group carries its own context and only the group is replaced, so that
`postgres://app:[redacted:url-password]@db` still tells where the database is.

The last rule, `assigned-secret`, knows no format, only that a value is given to something named like a secret. It looks
at the value: words, paths, variables, placeholders and prose stay; what no person would write as a word goes.

Invariants, proved by `tests/test_redact.py`: the rules are applied until none finds anything, so redacting twice is
redacting once; text without a secret comes back as the same object; every repetition that could be entered again is
possessive or bounded, so time grows linearly with the text. A secret hidden by zero-width or full-width characters is
looked for in the folded text, and the text is folded only if one is there. What is not caught: a password of plain
letters, a secret that has neither a known format nor a name before it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

# Between a name and its value: `NAME=v`, `"name": "v"`, `name => 'v'`, `\"name\": \"v\"`, `name is v`.
_TO = r"""(?:\\?["'`]\]?)?[ \t]{0,4}(?:=>|:=|={1,3}|:|[ \t]is[ \t])[ \t]{0,4}\\?["'`]?"""
_PEM = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# (kind, literals of which one must occur, pattern).
# The order matters: blocks come before what may occur inside them, known formats before guesses from context.
_TABLE: tuple[tuple[str, str, str], ...] = (
    ("gcp-service-account", "private_key", rf'private_key\\?"\s{{0,4}}:\s{{0,4}}\\?"({_PEM}[^"]{{16,8192}}+(?<!\\))'),
    # A whole block, or, where the text was cut off before its end, the lines that can only be key material.
    ("private-key", "-----BEGIN ", rf"({_PEM}(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{{0,40}}-----"
     r"|(?:\s{0,4}[A-Z][A-Za-z-]{0,20}: [^\n]{0,120}\n)*+(?:(?:[\s>]|\\[nr]){0,16}+[A-Za-z0-9+/=]{16,}+)++))"),
    ("putty-private-key", "Private-Lines:",
     r"Private-Lines: \d{1,4}\r?\n([A-Za-z0-9+/=]{1,100}+(?=\s|\Z)(?:\r?\n[A-Za-z0-9+/=]{1,100}+(?=\s|\Z))*+)"),
    ("age-secret-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{58,}+"),
    # Code hosting, packages, builds
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}+"),
    ("github-fine-grained-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,}+"),
    ("gitlab-token", "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941",
     r"(?:gl(?:pat|dt|rtr?|ptt|cbt|ft|imt|agent|oas|soat|ffct)-|GR1348941)[\w-]{20,}+(?:\.[a-z0-9.]{2,}+)?"),
    ("bitbucket-token", "ATBB", r"ATBB[A-Za-z0-9]{32,}+"),
    ("atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[\w-]{60,}+(?:=[0-9A-F]{8})?"),
    ("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,}+"),
    ("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{40,}+"),
    ("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    ("crates-io-token", "cio", r"cio[A-Za-z0-9]{32}"),
    ("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    ("docker-hub-token", "dckr_", r"dckr_[po]at_[\w-]{27,}+"),
    ("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{69}"),
    ("sonarqube-token", "squ_ sqp_ sqa_", r"sq[upa]_[0-9a-f]{40}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{16,}_[0-9a-f]{40}"),
    ("buildkite-token", "bkua_", r"bkua_[0-9a-f]{40}"),
    # Clouds and hosting
    ("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    ("aws-secret-key", "aws access", r"(?i)(?:aws[\w.-]{0,16}secret[\w.-]{0,16}|secret[_. -]?access[_. -]?key)"
     rf"{_TO}([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])"),
    ("aws-session-token", "session", rf"(?i)session[_-]?token{_TO}([A-Za-z0-9/+]{{100,}}+={{0,2}})"),
    ("gcp-api-key", "AIza", r"AIza[\w-]{35}"),
    ("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{24,}+"),
    ("google-oauth-token", "ya29. 1//0", r"ya29\.[\w-]{30,}+|1//0[\w-]{40,}+"),
    ("azure-storage-key", "accountkey sharedaccesskey",
     r"(?i)(?:accountkey|sharedaccesskey)[ ]?=[ ]?([a-z0-9+/]{40,}+={0,2})"),
    ("azure-sas", "sig=", r"(?<![A-Za-z0-9])sig=([A-Za-z0-9+/]{43}=|(?:[A-Za-z0-9]|%[0-9A-Fa-f]{2}){43,}+)"),
    ("azure-client-secret", "Q~", r"[\w~.]{3}\dQ~[\w~.-]{31,34}"),
    ("signed-url", "-Signature=", r"X-(?:Amz|Goog)-Signature=([0-9a-f]{64,}+)"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[0-9a-f]{64}"),
    ("heroku-key", "heroku", rf"(?i)heroku[\w.-]{{0,24}}{_TO}({_UUID})"),
    ("heroku-key", "HRKU-", r"HRKU-[\w-]{36,}+"),
    ("cloudflare-key", "cloudflare cf_ cf-",
     rf"(?i)(?<![a-z0-9])(?:cloudflare|cf)[\w.-]{{0,24}}(?:token|key|secret){_TO}([\w-]{{37,40}})(?![\w-])"),
    ("cloudflare-key", "v1.0- cfut_ cfat_ cfk_", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}+|cf(?:ut|at|k)_[A-Za-z0-9]{40,}+"),
    ("fly-token", "fo1_ fm1a_ fm1r_ fm2_", r"(?:fo1_|fm1[ar]_|fm2_)[A-Za-z0-9+/_-]{40,}+=*"),
    ("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,}+"),
    ("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,}+"),
    ("supabase-key", "sbp_ sb_secret_", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{28,}+"),
    ("neon-key", "napi_", r"napi_[a-z0-9]{60,}+"),
    ("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,}+"),
    ("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}+"),
    ("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}+"),
    ("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}+"),
    ("1password-token", "ops_eyJ", r"ops_eyJ[\w+/-]{60,}+=*"),
    ("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    ("tailscale-key", "tskey-", r"tskey-[a-z]{3,12}-[A-Za-z0-9]{10,}(?:-[A-Za-z0-9]{16,}+)?"),
    # Models
    ("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{24,}+"),
    ("openrouter-key", "sk-or-", r"sk-or-v1-[0-9a-f]{48,}+"),
    ("openai-key", "sk-", r"sk-(?:(?:proj|svcacct|admin|None)-[\w-]{24,}+|(?=[A-Za-z0-9]{0,40}\d)[A-Za-z0-9]{24,}+)"),
    ("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{32,}+"),
    ("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}+"),
    ("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}+"),
    ("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}+"),
    ("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37,}+"),
    ("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    # Chat, mail, money, work
    ("slack-token", "xox xapp-", r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-(?=[\w-]{0,24}\d)[A-Za-z0-9-]{16,}+"),
    ("slack-webhook", "hooks.slack.com/",
     r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9]{6,}+/[A-Za-z0-9]{6,}+/[A-Za-z0-9/]{16,}+)"),
    ("teams-webhook", ".webhook.office.com/",
     r"\.webhook\.office\.com/webhookb2/([\w@-]{36,}+/[A-Za-z]{1,40}+/[\w/-]{32,}+)"),
    ("discord-webhook", "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,22}/([\w-]{50,}+)"),
    ("discord-bot-token", "MT MD Mj Mz ND NT Nj Nz OD OT", r"[MNO][DTjz][\w-]{22,26}\.[\w-]{6}\.[\w-]{27,}+"),
    ("telegram-bot-token", ":AA", r"\d{8,10}:AA[\w-]{32,}+"),
    ("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    ("twilio-key", "twilio", rf"(?i)twilio[\w.-]{{0,24}}(?:token|secret|key){_TO}([0-9a-f]{{32}})(?![0-9a-z])"),
    ("sendgrid-key", "SG.", r"SG\.[\w-]{20,24}\.[\w-]{39,}+"),
    ("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    ("mailgun-key", "mailgun", rf"(?i)mailgun[\w.-]{{0,24}}{_TO}([0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}})"),
    ("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    ("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+"),
    ("stripe-key", "k_live_ k_test_ k_prod_", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}+"),
    ("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}+=*"),
    ("square-token", "sq0atp- sq0csp- EAAA", r"sq0(?:atp|csp)-[\w-]{22,}+|(?<![/+])EAAA[\w-]{60}(?![/+=])"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    ("notion-token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43}"),
    ("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("figma-token", "figd_", r"figd_[\w-]{36,}+"),
    ("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    # Watching
    ("datadog-key", "datadog dd_ dd-", r"(?i)(?<![a-z0-9])(?:datadog|dd)[\w.-]{0,24}key"
     rf"{_TO}([0-9a-f]{{40}}|[0-9a-f]{{32}})(?![0-9a-z])"),
    ("newrelic-key", "NRAK- NRII- NRRA- NRJS- NRAL", r"NR(?:AK|II|RA|JS)-[\w-]{19,}+|[0-9a-f]{36}NRAL"),
    ("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[\w+/-]{40,}+=*"),
    ("sentry-dsn", "sentry", r"(?i)://([0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w.-]{0,60}sentry"),
    ("grafana-token", "glc_ glsa_", r"glc_[A-Za-z0-9+/]{32,}+=*|glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    ("dynatrace-token", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    # Shapes of any vendor. The lookbehind lets a run of `-eyJ` start only one search.
    ("jwt", "eyJ",
     r"(?<![\w-])eyJ[\w-]{8,}+\.(?:eyJ[\w-]{4,}+\.[\w-]{8,}+|[\w-]*+\.[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}+)"),
    ("bearer-token", "bearer", r"(?i)(?<![a-z0-9])bearer[ \t]{1,4}([\w.~+/-]{16,}+={0,2})"),
    ("bearer-token", "authorization",
     rf"(?i)authorization{_TO}(?:bearer|token|apikey|bot|key)[ \t]{{1,4}}([\w.~+/-]{{8,}}+={{0,2}})"),
    ("basic-auth", "authorization", rf"(?i)authorization{_TO}basic[ \t]{{1,4}}([a-z0-9+/_-]{{8,}}+={{0,2}})"),
    ("session-cookie", "cookie", r"""(?i)cookie["']?:[ \t]{0,2}["']?(?:[^\s=;"']{1,60}=[^\s;"']{0,200};[ ]?){0,8}"""
     r"""[\w.-]{0,40}(?:sess|sid|auth|token|jwt)[\w.-]{0,20}=([^\s;,"']{12,}+)"""),
    ("curl-password", "curl", r"""(?i)curl[ ][^\n]{0,200}?[ ](?:-u|--user)[ =]?["']?[\w.@+-]{1,64}:([^\s"']{3,}+)"""),
    ("netrc-password", "login",
     r"(?i)(?:default|machine\s{1,4}\S{1,100})\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(\S{4,}+)"),
    ("url-password", "://", r"""://[^\s/:@"'<>`\[]{0,128}+:([^\s/"'<>`]{1,256})@(?=[\w.$\[{%-])"""),
    # The key of the guess; `_assigned` reads on from here.
    ("assigned-secret", "passw passp passc _pass pwd secret token key credential",
     r"(?:(?P<word>password|passwd|passphrase|passcode|pwd|_pass)|secret(?:[_-]?(?:access[_-]?)?key)?|token|credentials?"
     r"|(?:api|access|auth|private|encryption|signing|master|account|shared)[ _-]?key)"
     r"(?:[_-]?(?:value|base|prod|dev|staging|live|\d{1,2}))?"
     r"""(?P<shut>(?:\\?["'`]\]?|\*\*)?)(?:[ \t]{0,8}(?:=>|:=|!==?|={1,3}|:[ \t]?[a-z_][\w.]{0,20}(?: \| none)?[ \t]="""
     r"|[:\uff1a\uff1d])(?:\*\*)?[ \t]{0,8}"
     r"|(?:[ ](?:for|of|to|on)(?:[ ](?!is\b|was\b)[\w./-]{1,40}){1,3})?[ \t]{1,4}(?:is|was):?[ \t]{1,4}"
     r"""|(?P<gap>[ \t]{1,4})|(?P<pair>,[ \t]{0,4}(?=["'])|>))"""),
)  # fmt: skip


class Rule(NamedTuple):
    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int  # what is replaced: 0 a whole token, 1 the group


def _rule(kind: str, hints: str, pattern: str) -> Rule:
    compiled = re.compile(pattern, re.ASCII)
    if compiled.groups:
        return Rule(kind, tuple(hints.split()), compiled, 1)
    # Bounded by letters and digits on both sides, two tokens never touch: replacing one cannot uncover another.
    return Rule(kind, tuple(hints.split()), re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", re.ASCII), 0)


RULES = tuple(_rule(*row) for row in _TABLE)
KINDS: tuple[str, ...] = tuple(dict.fromkeys(rule.kind for rule in RULES))

_GUESS = len(RULES) - 1
# A token is one long word, so its literals are looked for among the long words only; those of a context anywhere.
_LONG = 20
_TOKEN_HINTS = tuple((hint, n) for n, rule in enumerate(RULES) if rule.group == 0 for hint in rule.hints)
_NEARBY_HINTS = tuple((hint.lower(), n) for n, rule in enumerate(RULES) if rule.group == 1 for hint in rule.hints)
_MARKER = re.compile(rf"\[redacted:(?:{'|'.join(KINDS)})\]")
_MASK = re.compile(r"[xX]{8}|[*•]{3}|\.\.\.|…")  # a token someone has hidden already
_PASSES = 8  # three suffice for every text tried; the bound is for the texts that were not

_HIDDEN = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\uff01-\uff5e]")
_INVISIBLE = (0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF)
_FOLD: dict[int, int | None] = {**dict.fromkeys(_INVISIBLE), **{n: n - 0xFEE0 for n in range(0xFF01, 0xFF5F)}}


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without its secrets, and the kinds found, sorted.

    >>> redact("deploy with " + "gh" + "p_" + "a1B2" * 9 + ", then tag")
    ('deploy with [redacted:github-token], then tag', ('github-token',))
    >>> redact("postgres://app:hunter2@db/prod")
    ('postgres://app:[redacted:url-password]@db/prod', ('url-password',))
    >>> redact("the password is stored hashed")
    ('the password is stored hashed', ())
    """
    clean, found = _until_clean(text)
    if not clean.isascii() and _HIDDEN.search(clean):
        bare, hidden = _until_clean(clean.translate(_FOLD))
        if hidden:
            return bare, tuple(sorted(found | hidden))
    return clean, tuple(sorted(found))


def _until_clean(text: str) -> tuple[str, set[str]]:
    found: set[str] = set()
    for _ in range(_PASSES):
        text, kinds = _once(text)
        if not kinds:
            break
        found |= kinds
    return text, found


def _once(text: str) -> tuple[str, set[str]]:
    """Every rule whose literal occurs, once, in the order of the table."""
    low = text.lower()
    likely = {n for hint, n in _NEARBY_HINTS if hint in low}
    if long := " ".join([word for word in text.split() if len(word) >= _LONG]):
        likely.update([n for hint, n in _TOKEN_HINTS if hint in long])
    found: set[str] = set()
    for n in sorted(likely):
        rule = RULES[n]
        spans = list(_assigned(text) if n == _GUESS else _known(rule, text))
        if spans:
            found.add(rule.kind)
            text = _cut(text, spans, f"[redacted:{rule.kind}]")
    return text, found


def _cut(text: str, spans: list[tuple[int, int]], marker: str) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], marker]
        at = end
    return "".join([*pieces, text[at:]])


def _known(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    check = _CHECKS.get(rule.kind, _unmasked)
    for match in rule.pattern.finditer(text):
        if check(value := match[rule.group]) and not _is_marker(value):
            yield match.span(rule.group)


def _is_marker(value: str) -> bool:
    """Nothing of it is left to hide: what an earlier rule has replaced stays as it is."""
    return "[redacted:" in value and not any(c.isalnum() for c in _MARKER.sub("", value))


# The value after a name: quoted up to the same quote, or bare up to where a value ends in code, a shell and a query.
_VALUE = re.compile(
    r"""(?:[bru]{1,2}(?=["']))?(?:(?P<quote>\\?["'`])(?P<inner>[^\n]{1,4096}?)(?P=quote)"""
    r"""|(?P<bare>(?:[^\s"'`,;<>(){}\[\]|\\&]|&(?![\w.-]{1,40}=)){6,128}+)(?![(\[{]))""",
    re.ASCII,
)
_REST = re.compile(r"""[^\s"'`,;<>(){}\[\]|\\&]*+""")
_FLAG = re.compile(r"--?[\w-]{0,30}$", re.ASCII)


def _assigned(text: str) -> Iterator[tuple[int, int]]:
    """Where a value that looks like a secret is given to a name that sounds like one."""
    low = text.lower()
    if len(low) != len(text):  # `İ` alone grows when lower-cased, and would shift every position after it
        low = text.replace("\u0130", "i").lower()
    done = 0
    for key in RULES[_GUESS].pattern.finditer(low):
        start = key.start()
        if start < done or not (value := _VALUE.match(text, key.end())):
            continue
        before = low[max(0, start - 32) : start]
        if before.endswith(":") and before[-2:-1].isalnum():
            continue  # a part of a longer name: `arn:aws:secretsmanager:eu-west-1:1234:secret:db-a1b2c3`
        if (key["gap"] and not _FLAG.search(before)) or ((key["pair"] or ">") != ">" and not key["shut"]):
            continue  # "token bucket", "(token, x)": a word among words
        if key[0].startswith("token") and before.rstrip(" _-").endswith(_PLAIN):
            continue
        quoted = value["quote"] is not None
        secret = value["inner"] if quoted else value["bare"].rstrip(".:?")
        if not _is_secret(secret, password=key["word"] is not None, quoted=quoted):
            continue
        start = value.start("inner" if quoted else "bare")
        done = start + len(secret)
        if len(secret) == 128 and not quoted and (rest := _REST.match(text, done)):
            done = rest.end()
        yield start, done


# What is a secret: each check answers for the value alone.
_WORD = r"(?:\d{0,3}[A-Za-z]+\d{0,5}|\d{1,8})"
_WORDS = re.compile(rf"[-_./:~@|]*+{_WORD}(?:[-_./:~@|]++{_WORD})*+[-_./:~@|]*+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_@]\w*+(?:(?:\??\.|::|->)[A-Za-z_]\w*+)*+", re.ASCII)  # a variable, an attribute
_MAIL = re.compile(r"[\w.+-]{1,64}+@(?:[\w-]{1,63}+\.){1,8}[A-Za-z]{2,}", re.ASCII)
_CHANGE = re.compile(r"[a-zA-Z](?=\d)|\d(?=[a-zA-Z])", re.ASCII)
_UNEVEN = re.compile(r"\d|[a-z][A-Z]|[!@#$%^*&+]", re.ASCII)  # without one of these it is a word
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24}", re.ASCII)
_STAND_IN = re.compile(  # a reference to a value, or the place for one
    r"^[$<{%^\[]|\$\{|\{[\w.]*\}|example|placeholder|change[_-]?(?:me|this)|replace[_-]?(?:me|this|with)|your[_-]|dummy|redacted"
    r"|x{4}|\*{3}|\.{3}|…|env[.\[(:]|environ|getenv|secrets?\.|vars?\.|://|vault:|file:|arn:|sha\d{1,3}[:-]|^\d{4}-\d\d-\d\d",
    re.ASCII | re.I,
)
_TERM = re.compile(  # `sha256`, `argon2id`, `uint64`, `oauth2`, `12chars`: terms that carry a number
    r"(?:sha|md|aes|argon|bcrypt|scrypt|pbkdf|hmac|oauth|base|utf|rsa|ed|[hrep]s|u?int|float|char|varchar|jwt)[-_]?\d+\w*"
    r"|\d+[a-z]+",
    re.ASCII | re.I,
)
# Tokens that are no secrets: of language models, of paging, of retries.
_PLAIN = ("page", "next", "prev", "continuation", "cursor", "sync", "starting", "forward", "backward", "first", "last",
          "pad", "eos", "bos", "unk", "sep", "mask", "cls", "stop", "special",
          "idempotency", "request", "client", "change", "lock", "publickey")  # fmt: skip


def _entropy(value: str) -> float:
    """Bits per character.

    >>> _entropy("aaaa") == 0, _entropy("abcd")
    (True, 2.0)
    """
    size = len(value)
    return -sum((p := value.count(c) / size) * math.log2(p) for c in set(value))


def _is_secret(value: str, *, password: bool, quoted: bool) -> bool:
    if not _UNEVEN.search(value) or len(value.split()) != 1 or _STAND_IN.search(value) or _MAIL.fullmatch(value):
        return False
    if not quoted and _NAME.fullmatch(value):  # in code this may be a variable
        named = password and not re.search(r"[.:>]|(?i:pass|pwd|secret|token|key|cred)|[a-z]{3}[A-Z][a-z]{2}", value)
        if not named and len(_CHANGE.findall(value)) < 3 and not _restless(value):
            return False
    return _opaque(value) or (password and _simple(value))


def _opaque(value: str) -> bool:
    """No person would write it as a word: letters and digits mixed, or the case changing all the time.

    >>> [_opaque(v) for v in ("9f8Kd02mQz71", "db-creds-prod-01", "getAccessTokenFromCookie", "qWeRtZuIoPaSdFgHjKlYx")]
    [True, False, False, True]
    """
    if _STAND_IN.search(value):
        return False
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    if not (mixed and len(value) >= 8 and not _WORDS.fullmatch(value)):
        return _restless(value)
    return _entropy(value) >= 2.9


def _restless(value: str) -> bool:
    """Long, and going up and down more often than any camelCase does."""
    humps = len(re.findall("[a-z](?=[A-Z])", value))
    return len(value) >= 20 and humps * 5 >= len(value) and _entropy(value) >= 3.5


def _simple(value: str) -> bool:
    """A password may be shorter and simpler than a key, but it is still no word.

    >>> [_simple(v) for v in ("hunter2", "Sommer!Abend", "current-password", "sha256", "required|min:8")]
    [True, True, False, False, False]
    """
    if len(value) < 6 or len(set(value)) < 4 or _TERM.fullmatch(value):
        return False
    if any(c.isdigit() for c in value):
        return any(c.isalpha() for c in value) and (not re.search(r"[-_./:|]", value) or not _WORDS.fullmatch(value))
    return any(c in "!@#$%^*&+" for c in value[1:]) and value.upper() != value != value.lower()


def _basic(value: str) -> bool:
    """Base64 of `user:password` mixes its letters; the words that stand for it do not."""
    words = re.search(r"base64|credential|encoded|string|password", value, re.I)
    return not words and value[1:] != value[1:].lower() and value != value.upper()


def _written(value: str) -> bool:
    """A value, not a variable or a mask."""
    return re.match(r"[$<{%\[(*]|\w{0,3}\*\*|[xX.]+$|…", value) is None or _MARKER.match(value) is not None


def _unmasked(value: str) -> bool:
    return _MASK.search(value) is None


def _key_block(value: str) -> bool:
    return _BASE64.search(value, value.find("KEY-")) is not None


_CHECKS: dict[str, Callable[[str], bool]] = {
    "gcp-service-account": _key_block,
    "private-key": _key_block,
    "cloudflare-key": _opaque,
    "bearer-token": _opaque,
    "session-cookie": _opaque,
    "basic-auth": _basic,
    "url-password": _written,
    "curl-password": _written,
    "netrc-password": _written,
}
