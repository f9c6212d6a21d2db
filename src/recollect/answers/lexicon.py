"""Words as the judge knows them: what means the same, what means the opposite, what names a thing. Data.

Groups are parted by semicolons; the words of one may stand for each other. Two words of different groups of ACTIONS,
or of THINGS, are two different things, however alike their vectors are: that is what makes «enable» and «disable»,
«branch» and «tag» two questions. A word may stand in several groups; it then is like the words of each.
"""

from __future__ import annotations

# Several words that are read as one, the first thing that happens to a question.
PHRASES = """
log in = login; sign in = login; signin = login; sign on = login; log out = logout; sign out = logout
log off = logout; sign up = signup; set up = setup; shut down = shutdown; turn on = enable; switch on = enable
turn off = disable; switch off = disable; roll back = rollback; roll out = rollout; back up = backup
spin up = start; bring up = start; boot up = start; fire up = start; start up = start; take down = stop
tear down = teardown; spin down = stop; bring down = stop; clean up = cleanup; get rid of = remove; look up = lookup
check out = checkout; check in = checkin; find out = find; figure out = find; take care of = handle; opt in = optin
opt out = optout; pull request = pullrequest; merge request = pullrequest; pr = pullrequest; prs = pullrequest
mr = pullrequest; continuous integration = ci; continuous delivery = cd; continuous deployment = cd
environment variable = envvar; env var = envvar; env vars = envvar; environment variables = envvar
command line = cli; user interface = ui; front end = frontend; back end = backend; data base = database
code base = codebase; time out = timeout; time zone = timezone; white list = allowlist; whitelist = allowlist
allow list = allowlist; black list = denylist; blacklist = denylist; deny list = denylist; block list = denylist
blocklist = denylist; out of memory = oom; single sign login = sso; on call = oncall; on prem = onprem
on premise = onprem; on premises = onprem; pre production = staging; preprod = staging; post mortem = postmortem
run book = runbook; work flow = workflow; web hook = webhook; api key = apikey; access key = accesskey
hot fix = hotfix; road map = roadmap; high level = overview; amazon web services = aws; google cloud platform = gcp
google cloud = gcp; visual studio code = vscode; vs code = vscode; ruby on rails = rails; node js = node
node.js = node; nodejs = node; react.js = react; reactjs = react; vue.js = vue; vuejs = vue; next.js = nextjs
ms sql = mssql; sql server = mssql; operating system = os; virtual machine = vm; virtual environment = venv
virtual env = venv; virtualenv = venv; single page app = spa; end to end = e2e; load balancer = loadbalancer
rate limit = ratelimit; rate limiting = ratelimit; rate limits = ratelimit; feature flag = featureflag
feature toggle = featureflag; pull down = download; such as = like; a lot of = many; lots of = many
united states = usa; u.s. = usa; u.s.a. = usa; uk = britain; united kingdom = britain; in place of = instead
by hand = manually; deployment = deploy; deploys = deploy; deployments = deploy; no longer = not; any more = anymore
at least = minimum; at most = maximum; up to date = current; used to = formerly; as well as = and
get hold of = reach; point out = show; set off = trigger; kick off = trigger; in go = in golang; for go = for golang
go module = golang module; go modules = golang modules; go code = golang code; go service = golang service
every other = alternate; in front of = ahead; well formed = wellformed; out of = from; keep track of = track
make sure = ensure; carry out = run; come from = source; deal with = handle; hand over = give
"""

# Forms of verbs that no rule of endings finds, each with its verb; left out are those that are other words as well.
IRREGULAR = """
taught teach; sent send; built build; kept keep; wrote write; written write; chose choose; chosen choose; ran run
began begin; begun begin; broke break; gave give; given give; took take; taken take; made make; went go; gone go
came come; knew know; thought think; bought buy; brought bring; caught catch; fought fight; held hold; led lead
lost lose; met meet; sold sell; spent spend; spoke speak; spoken speak; stood stand; told tell; threw throw
thrown throw; understood understand; won win; drove drive; driven drive; ate eat; eaten eat; fell fall; fallen fall
flew fly; flown fly; forgot forget; forgotten forget; froze freeze; frozen freeze; grew grow; grown grow; risen rise
shown show; shrank shrink; shrunk shrink; slept sleep; stole steal; stolen steal; woke wake; woken wake; dealt deal
sought seek; drew draw; drawn draw; blew blow; blown blow; overwrote overwrite; overwritten overwrite; rebuilt rebuild
overridden override; overrode override; swept sweep; swore swear; sworn swear; became become; hung hang; sang sing
"""

# What is done. Two actions of different groups are never the same.
ACTIONS = """
create add make generate new introduce provision setup
delete remove drop erase wipe purge destroy discard cleanup uninstall teardown; install setup; uninstall
update upgrade bump; downgrade; update change modify edit alter adjust amend tweak; rename; move relocate transfer
migrate port; copy clone duplicate replicate; enable activate allow; disable deactivate
allow permit grant authorize whitelist allowlist; deny forbid block reject refuse prevent prohibit ban denylist
revoke withdraw rescind; start launch run boot begin; run execute invoke call
stop halt terminate kill end quit shutdown abort; pause suspend; resume continue unpause; restart reboot bounce
reset; retry rerun; open; close shut; connect attach join link; disconnect detach unlink; subscribe; unsubscribe
publish; consume; read fetch load get retrieve obtain; write save store persist; send transmit; receive; push upload
pull download; import; export; encrypt; decrypt; encode; decode; serialize marshal dump; deserialize unmarshal parse
compress zip pack; decompress unzip unpack extract; lock; unlock; mount; unmount; build compile
deploy release ship rollout publish; rollback revert undo; redo; merge; rebase; split divide separate; fork; branch
commit; stage; unstage; stash; squash; tag; cherry-pick; test; validate verify check confirm
debug troubleshoot diagnose; fix solve resolve repair correct mend; break; monitor watch observe track; log
show list display print view see output; hide; find search locate lookup; count; sort order rank; filter; group
increase raise grow boost extend expand enlarge; decrease reduce lower shrink shorten cut lessen minimize
improve optimize speed; worsen degrade; scale; configure set setup; unset; schedule; cancel; approve accept; assign
unassign; register signup enroll; unregister deregister; login authenticate; logout; lock; buy purchase; sell; lend
borrow; rent; win; lose; gain; give; take; teach; learn study; ask; answer reply respond
convert transform translate turn; replace swap substitute; override overwrite; inherit extend; rotate renew; expire
refresh; archive; restore recover; backup; cache; invalidate flush evict clear; index; query; mock stub
refactor rewrite; document; review; contact reach; report; escalate; trigger; ignore skip exclude omit; include
use utilize employ; avoid; choose pick select prefer; switch; join; leave; keep retain; notify alert; quote; hire
fire; love; hate; attack; defend; freeze; unfreeze thaw; drain; seed; scan; sign; mask redact; throttle ratelimit
shard partition; sync synchronize; truncate; enter; exit; happen occur; cost; pay; own maintain; depend
contain hold; explain describe; compare; arrive; hear; speak talk; eat; drink; sleep
"""

# What it is done to, or with. One-sided, such a word narrows a question; two of different groups are two things.
THINGS = """
server host machine box; database db datastore; table; column field; row record; schema; view; index; key; value
apikey; accesskey; token; secret credential; password passwd passphrase; certificate cert; user; customer client
admin administrator; owner maintainer; team squad; role; group; permission right privilege access; account; session
cookie; header; body payload; request; response; query; endpoint route url; api; file; folder directory dir; path
line; function method; class; object; module package library dependency dep; variable var; envvar; constant
argument parameter arg param; type; interface; test; unit; integration; e2e; regression; smoke; coverage; branch
tag; commit; pullrequest; repository repo; fork; diff; conflict; container; image; pod; node; cluster; namespace
deployment rollout release; service; worker; job task; queue; topic; stream; event; message; webhook; cron
scheduler; cache; cdn; loadbalancer; proxy; gateway; firewall; network; subnet; port; dns; domain; ip; disk storage
memory ram oom; cpu processor; gpu; bandwidth; latency; throughput; timeout; ratelimit; retry; log; metric
dashboard; alert alarm; trace; error exception failure crash; warning; bug defect issue; incident outage; postmortem
backup; snapshot; replica; primary; secondary; leader; follower; shard partition; frontend ui; backend; mobile
desktop; web; ios; android; config configuration setting option; flag featureflag; documentation doc; readme
changelog; license; runbook; policy; sla; budget; invoice bill; billing; payment checkout; refund; subscription
price cost; plan; login authentication auth signin; authorization authz; sso; logout; signup registration
email mail; sms; push; notification; report; search; upload; download; import; export; form; button; page; screen
modal; menu; theme; font; style css; html; layout; template; script; command cli; shell terminal; pipeline ci
workflow; cd; build; artifact; binary; linter lint; formatter; compiler; debugger; profiler; editor ide
plugin extension addon; hook; middleware; controller; model; migration; transaction; lock; thread; process
connection; socket; pool; loop; list array; dict dictionary map; string; integer int; float; boolean bool; date
timestamp; timezone; byte; json; yaml; xml; csv; regex; region zone; environment env; tenant; project; workspace
organization org company; office; employee; manager; intern; contractor
"""

# Names of products, languages and places; written small too, they name one thing. Two groups are two things.
NAMES = """
python py; javascript js; typescript ts; java; kotlin; scala; clojure; ruby; rails; go golang; rust; c; c++ cpp
c# csharp; php; perl; swift; objective-c; dart; elixir; erlang; haskell; lua; matlab; julia; sql; bash; zsh
powershell; fish; .net dotnet; node; deno; bun; npm; yarn; pnpm; pip; poetry; uv; conda; cargo; maven; gradle; bazel
make makefile; cmake; webpack; vite; rollup; esbuild; babel; react; vue; angular; svelte; nextjs; nuxt; jquery
django; flask; fastapi; spring; laravel; express; nestjs; postgres postgresql pg; mysql; mariadb; sqlite; oracle
mssql; mongodb mongo; redis; memcached; cassandra; dynamodb; elasticsearch elastic; opensearch; clickhouse
snowflake; bigquery; redshift; kafka; rabbitmq; sqs; sns; nats; pulsar; celery; sidekiq; airflow; spark; hadoop
flink; dbt; docker; podman; kubernetes k8s; helm; istio; nomad; terraform; pulumi; ansible; chef; puppet; vagrant
packer; aws; gcp; azure; heroku; vercel; netlify; cloudflare; digitalocean; s3; ec2; lambda; ecs; eks; gke; rds
nginx; apache; caddy; haproxy; traefik; envoy; jenkins; github gh; gitlab; bitbucket; circleci; travis; teamcity
argocd argo; git; svn; mercurial hg; jira; confluence; notion; slack; teams; discord; zoom; linear; trello; asana
sentry; datadog; grafana; prometheus; kibana; splunk; loki; newrelic; pagerduty; opsgenie; pytest; jest; mocha
vitest; cypress; playwright; selenium; junit; rspec; eslint; prettier; ruff; black; mypy; flake8; pylint; vscode
vim; neovim; emacs; intellij; pycharm; xcode; linux; ubuntu; debian; fedora; alpine; centos; windows; macos mac osx
ios; android; chrome; firefox; safari; edge; rest; graphql; grpc; soap; websocket; http; https; ssh; ftp; sftp; tcp
udp; tls; ssl; oauth; saml; jwt; ldap; okta; auth0; stripe; paypal; twilio; sendgrid; openai; anthropic; claude
chatgpt gpt; gemini; llama; pytorch; tensorflow; numpy; pandas; json; yaml; toml; xml; csv; parquet; protobuf; avro
utc; gdpr; hipaa; soc2; pci
"""

# Where something runs. A question about one of them is not answered by another, nor by one about none.
ENVIRONMENTS = """
prod production live; staging stage preproduction; dev development; test testing; qa; uat; local localhost locally
sandbox; canary; preview; demo; onprem; cloud; remote
"""

# One word, long and short: these say the same wherever they stand.
SHORT = """
config configuration; db database; doc documentation; app application; repo repository; env environment
auth authentication; arg argument; param parameter; var variable; dir directory; dep dependency; admin administrator
cert certificate; int integer; bool boolean; dict dictionary; spec specification; info information; org organization
mail email; dev development; prod production; max maximum; min minimum; passwd password; lib library; msg message
"""

# Words that stand for each other and are none of the above.
SYNONYMS = """
quick fast rapid speedy quickly; often frequently; manual manually hand; slow sluggish slowly; big large huge
small little tiny; error failure exception problem issue; broken failing; fail break crash; team group
doc documentation docs; reason cause; purpose point goal aim; method way approach technique
difference differ different distinguish; pro advantage benefit plus upside; con disadvantage drawback downside
movie film; job work career; money cash; kid child children; guy man men; girl woman women
phone mobile smartphone cellphone; company firm business; usa america american us; britain uk; india indian
best good top great; safe secure; start begin; happen occur; important significant; responsible charge
person people someone anyone somebody anybody; convention guideline standard rule; possible able
required necessary mandatory needed need require; location place where; identical same; repo repository
app application; config configuration; info information detail; spec specification; max maximum; min minimum
lib library; msg message; sample example
"""

# Opposites: with one in each question, they ask for contrary things.
OPPOSITES = """
enable disable; activate deactivate; start stop; begin end; launch kill; open close; add remove; create delete
insert delete; install uninstall; upgrade downgrade; import export; upload download; push pull; send receive
read write; allow deny; allow block; allow prevent; allow forbid; grant revoke; accept reject; approve reject
approve deny; include exclude; connect disconnect; attach detach; mount unmount; lock unlock; encrypt decrypt
encode decode; compress decompress; serialize deserialize; subscribe unsubscribe; register unregister; login logout
optin optout; show hide; expand collapse; increase decrease; increase reduce; raise lower; grow shrink
maximum minimum; max min; most least; more less; more fewer; many few; high low; highest lowest; higher lower
big small; large small; larger smaller; largest smallest; bigger smaller; long short; longer shorter
longest shortest; fast slow; faster slower; fastest slowest; quick slow; early late; earlier later; before after
first last; oldest newest; old new; older newer; latest oldest; previous next; prior next; past future
ascending descending; asc desc; up down; upper lower; above below; over under; inside outside; in out
internal external; inbound outbound; ingress egress; incoming outgoing; input output; upstream downstream
public private; local remote; local global; static dynamic; manual automatic; manually automatically; sync async
synchronous asynchronous; online offline; mutable immutable; read-only writable; optional required
optional mandatory; required forbidden; valid invalid; safe unsafe; secure insecure; stable unstable; known unknown
strong weak; hard easy; hard soft; difficult easy; hot cold; success failure; succeed fail; successful failed
pass fail; passing failing; work fail; work break; positive negative; true false; yes no; on off; left right
top bottom; front back; source target; source destination; sender receiver; sender recipient; parent child
ancestor descendant; client server; buyer seller; buy sell; lend borrow; win lose; gain lose; give take; love hate
like dislike; like hate; alive dead; male female; man woman; men women; boy girl; husband wife; king queen
rich poor; good bad; best worst; better worse; benefit risk; advantage disadvantage; pro con; cheap expensive
cheapest expensive; free paid; full empty; full incremental; full partial; complete partial; horizontal vertical
row column; ancestor child; frontend backend; primary secondary; primary replica; leader follower; master slave
producer consumer; publisher subscriber; publish subscribe; reader writer; merge split; forward backward
forwards backwards; pre post; scale-up scale-down; together separately; same different; always never
everyone nobody; all none; with without; deprecated supported; legal illegal; ascend descend; arrive leave
enter exit; teach learn; ask answer; strict lenient; verbose quiet; absolute relative; eager lazy
blocking nonblocking; stateful stateless; signed unsigned; single multiple; temporary permanent; inner outer
deploy rollback; commit revert; warm cold; freeze unfreeze; pause resume; pin unpin; fold unfold; load unload
wrap unwrap; stage unstage; set unset; assign unassign; mute unmute; archive restore; backup restore; save discard
keep delete; keep remove; keep drop; rise fall; import deport; hire fire; join leave; attack defend; male woman
healthy unhealthy; normal abnormal; within beyond; for against; ahead behind; ahead after; use avoid; have lack
has lack; malformed wellformed
planned done; planned finished; draft final; recent old; recent oldest; latest earliest; newest earliest
hello goodbye
wake sleep; awake asleep; prepend append; head tail; pop push; enqueue dequeue; allocate free; acquire release
bind unbind; promote demote; odd even; north south; east west; northern southern; eastern western; day night
morning evening; morning night; noon midnight; summer winter; spring autumn; weekday weekend; weekdays weekends
singular plural; thin thick; wide narrow; light dark; heavy light; deep shallow; beginner expert; junior senior
debit credit; income expense; profit loss; arrival departure; mother father; mom dad; brother sister; son daughter
uncle aunt; adult child; student teacher; employer employee; landlord tenant; guest host; lender borrower
caller callee; superclass subclass; base derived; request response; question answer; numerator denominator
sparse dense; hit miss; agree disagree; trust distrust; obey disobey; accept decline; approve decline; raise drop
succeed break; solved unsolved; open shut; opened closed; won lost; sharp blunt; wet dry; loud quiet; noisy quiet
clean dirty; young old; younger older; near far; nearest farthest; closest farthest; tall short; taller shorter
strength weakness; ally enemy; friend enemy; heaven hell; peace war; birth death; marry divorce; introvert extrovert
optimist pessimist; minimum average; maximum average; average median; planned unplanned; ephemeral persistent
liveness readiness; horizontally vertically; clockwise counterclockwise; uppercase lowercase; add subtract
multiply divide; started finished; started ended; open resolved; ongoing resolved; ongoing finished
queued running; running stopped; running paused; merged pending; merged closed; removed deprecated; advisory blocking
present absent; visible hidden; busy idle; raw cooked; raw processed; fresh stale; plaintext encrypted
unit integration
"""

# Opposites that have degrees: each form of one is against each form of the other.
GRADED = """
big small; large small; huge tiny; long short; tall short; fast slow; quick slow; early late; old new; old young
high low; cheap expensive; hot cold; warm cold; easy hard; easy difficult; strong weak; heavy light; deep shallow
wide narrow; thick thin; near far; close far; rich poor; safe risky; simple complex; loud quiet; clean dirty
"""

# Words that say which, how much of it, or of what standing. One-sided they change what is asked.
SCOPE = """
only just-only solely; except excluding besides; default; maximum max most; minimum min least
current present today's; latest newest recent; previous prior former; next upcoming; first initial; last final; new
old legacy; global; public; private; internal; external; shared common; custom; manual manually
automatic automatically auto; optional; required mandatory; read-only readonly; full; partial; incremental
single one; multiple several; both; neither; half; average mean; median; total overall; daily; weekly; monthly
nightly; hourly; yearly annual; temporary; permanent; failed; pending; active; inactive; deprecated
other another else; own; stable; beta; alpha; nested; recursive; recursively; parallel; sequential; async; sync
remote; upstream; downstream; inbound; outbound; primary; secondary; hard; soft; free; paid; anonymous; empty
invalid; valid; unused; missing; without; instead; again; ever; always; never; also; before; after; until; since
during; while; unless; twice; once; outside; inside; formerly; minor; major
"""
