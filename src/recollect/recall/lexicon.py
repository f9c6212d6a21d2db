"""What developers call the same thing: one table of acronyms and synonyms. Data.

A line is a group; its first words are the closest to each other, later ones are looser, and where a word stands in two
groups the earlier line comes first. With `>` only what stands before it is looked up: `tmp` asks for «temporary», but
nobody who wrote «temporary» gains by `tmp`. Words with too many meanings stay out: go, c, cd, ms, key, state, test,
run, build, branch, set, table, port, spring, node, page. A caller adds groups of their own; theirs come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MAX_WORDS = 4  # of one term
MAX_OTHERS = 6  # alternatives of one term

GROUPS = """
k8s | kubernetes | kube
db | database
auth | authentication | login | sign-in
authz | authorization | permissions | access control
repo | repository
ci | continuous integration | pipeline
ci/cd | continuous delivery | continuous deployment
env | environment
prod | production
staging | preproduction | preprod
deploy | release | rollout | ship
deployment | release
deployed | released | shipped | rolled out
bug | defect > issue
pg | postgres | postgresql
js | javascript
ts | typescript
py > python
rb > ruby
rs > rust
golang | go language
csharp | c# | dotnet | .net
cpp | c++
pkg > package
deps | dependencies
dep > dependency
config | configuration | settings
cfg > config file | configuration file
infra | infrastructure
perf | performance > latency | speed
oom | out of memory | memory exhausted
pr | pull request | merge request
mr | merge request | pull request
wifi > wireless | network
docs | documentation
doc > document
dev > development
impl > implementation
app > application
admin > administrator
api | endpoint
arg > argument | parameter
args > arguments | parameters
param > argument
params > arguments
attr > attribute
async | asynchronous
sync | synchronous
auto > automatic
backend | server side | back-end
frontend | front-end | client side | ui
fe > frontend
ui | user interface | frontend
ux | user experience | usability
gui > graphical interface
cli | command line
cmd > command
tty > terminal
comms > communication
conn > connection
creds > credentials | secrets
pwd > password
passwd > password
pw > password
2fa | two factor | mfa | multi-factor authentication
mfa | multi-factor authentication | 2fa
sso | single sign-on | single sign on
oauth | oauth2
jwt | json web token | bearer token
tls | ssl | https certificate
cert > certificate
certs > certificates
ctx > context
del > delete | remove
directory | folder | dir
dirs | directories | folders
dns | name resolution | domain name
elasticsearch | es cluster | opensearch
err > error
exc > exception
fn > function
func > function
fs | file system | filesystem
gc | garbage collection | garbage collector
gh > github
gql | graphql
grpc | remote procedure call | rpc
gpu > graphics card | accelerator
ha | high availability | failover
hw > hardware
sw > software
iac | infrastructure as code | terraform
tf | terraform
iam | identity and access management
ide > editor
id > identifier
ids > identifiers
init > initialize | initialise | initialization
inst > instance
int > integer
str > string
bool > boolean
fp | floating point
yml | yaml
md | markdown
mq > message queue | queue
pubsub | publish subscribe | messaging
lb | load balancer | load balancing
lib > library
libs > libraries
lint > linter | linting
llm | large language model | language model
ml | machine learning
ai | artificial intelligence
nn | neural network
rag | retrieval augmented generation
embeddings > vectors
msg > message
msgs > messages
mvp | minimum viable product
npm > node package manager
nodejs | node.js
reactjs | react.js
vuejs | vue.js
nextjs | next.js
obj > object
orm | object relational mapper
os > operating system
oss > open source
perms > permissions
poc | proof of concept | prototype
pod > container
docker > containers | containerization
mem > memory | ram
cpu > processor
proc > process
proto | protobuf | protocol buffers
qa > quality assurance | testing
qps > queries per second | throughput
rps > requests per second | throughput
ratelimit | rate limit | throttling | rate limiting
rbac | role based access control
ref > reference
refs > references
refactor | restructure > rewrite | clean up
regex | regexp | regular expression
regexes | regular expressions
regression > broke again
req > request
reqs > requirements
res > response
resp > response
rfc | design proposal
adr | architecture decision record | decision record
rca | root cause analysis | root cause
postmortem | post-mortem | incident report | incident review
incident | outage | downtime
rollback | revert | roll back
s3 > object storage | bucket
sdk | software development kit | client library
vuln | vulnerability | cve
xss | cross-site scripting | cross site scripting
csrf | cross-site request forgery
cors | cross-origin | cross origin
sre > site reliability
sla | service level agreement
slo | service level objective
spec > specification
specs > specifications
sqlite | sqlite3
ssr | server side rendering
svc > service
microservice | micro service
temp > temporary
tmp > temporary
tdd | test driven development
e2e | end to end | end-to-end
tz | timezone | time zone
utils > utilities | helpers
val > value
var > variable
vars > variables
venv | virtual environment | virtualenv
ver > version
vm | virtual machine
vpc | virtual private cloud
vpn > virtual private network | tunnel
vscode | visual studio code | vs code
wasm | webassembly
ws | websocket | web socket
webhook | callback url
a11y | accessibility
i18n | internationalization | internationalisation | localization
l10n > localization | translation
o11y > observability | monitoring
metrics > telemetry | instrumentation
alert | alarm
cron | scheduled job | scheduler
flaky | intermittent | unstable
crash | segfault | panic
segfault | segmentation fault
npe | null pointer | null pointer exception
timeout | timed out | deadline exceeded
deadlock | lock contention
race condition | data race
leak | memory leak
ttl | time to live | expiry
uuid | guid | unique identifier
url | uri
crud | create read update delete
etl | extract transform load | data pipeline
csv > comma separated
ddl | schema definition
migration | schema change
monorepo | mono repo | single repository
todo | action item
wip | work in progress
eta | estimated time
eol > end of life | deprecated
tldr > summary
prefs > preferences
slow > sluggish | high latency
fix > repair
"""


def lookup(extra: Mapping[str, Sequence[str]] | None = None) -> Mapping[str, tuple[str, ...]]:
    """Each term with its alternatives, closest first; the caller's groups before the built-in ones.

    >>> BUILT_IN["k8s"], BUILT_IN["tmp"], "temporary" in BUILT_IN, lookup({"PT": ["Platform Team"]})["platform team"]
    (('kubernetes', 'kube'), ('temporary',), False, ('pt',))
    """
    if not extra:
        return BUILT_IN
    merged = dict(BUILT_IN)
    for term, others in extra.items():
        _add(merged, (term, *others))
    return merged


def _add(table: dict[str, tuple[str, ...]], group: Sequence[str], keys: int | None = None) -> None:
    """Put a group before what is known of its terms; with `keys`, only its first terms are looked up."""
    terms = list(dict.fromkeys(folded for term in group if (folded := " ".join(term.casefold().split()))))
    for term in terms[:keys]:
        if len(term.split()) <= MAX_WORDS:
            others = (other for other in terms if other != term)
            table[term] = tuple(dict.fromkeys((*others, *table.get(term, ()))))[:MAX_OTHERS]


def _read(groups: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for line in reversed(groups.strip().splitlines()):
        keys, _, others = line.partition(" > ")
        names = keys.split(" | ")
        _add(table, (*names, *others.split(" | ")), keys=len(names) if others else None)
    return table


BUILT_IN = _read(GROUPS)
