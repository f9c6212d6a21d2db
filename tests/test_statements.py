"""What tells something, and what could never be an answer."""

from __future__ import annotations

import pytest

from recollect.language.statements import is_question, is_statement, told

QUESTIONS = """
What port does the gateway use?
what port does the gateway use
which database does billing use
how do we deploy
how many retries does the uploader make
why did we choose PostgreSQL over MongoDB
who approved the Kafka decision
who owns billing
Where is the config kept?
so where do we keep secrets
Is the cache enabled in staging
are there any open incidents
Does billing use Postgres
did we agree on tabs
can you tell me which queue we use
could we use the typed id here
do you know who is on call
should we do this in a worktree
Tell me about the gateway.
remind me how the release works
Explain how the retry works.
I'd like to know whether we still use Redis.
I wonder who wrote this.
The gateway listens on 8443, right?
Welche Datenbank nutzen wir?
warum nutzen wir Kafka
wie oft wird gesichert
Können wir das abschalten
Gibt es einen Testserver?
Quelle base de données utilise-t-on ?
pourquoi utilise-t-on Kafka
est-ce que le cache est actif
¿Qué puerto usa la pasarela?
cuál es el puerto de la pasarela
por qué usamos Kafka
Qual porta o gateway usa?
por que usamos Kafka
o que seriam estes erros
Quale porta usa il gateway?
почему мы используем Kafka
网关用的是哪个端口？
为什么选择 PostgreSQL
这个是你写的吗
ゲートウェイのポートは何番ですか
なぜ Kafka を使うのですか。
어떤 포트를 사용합니까
""".strip().splitlines()

TALK = """
hi
Hello!
Hey Claude,
Good morning everyone!
thanks a lot
Thank you so much!
yes
Yes, continue
ok, go ahead
no
sounds good
Looks good to me.
LGTM
perfect, thanks
do it
Ok do it and then continue
both
option B
1 and 3
3
commit and push
Implement the plan.
run the tests
Update all documents
Guten Morgen!
ja, mach weiter
Danke!
merci beaucoup
oui, continue
d'accord, vas-y
hola
sí, adelante
Bom dia!
sim, pode seguir
你好
好的，继续
はい、続けてください
네, 계속 해주세요
---
```
""".strip().splitlines()

MACHINES = """
$ git status
git push --force origin main
ls -la
npm run build
docker compose up -d
/plan
/workflows:review
@agent Continue: "Continue to iterate?"
[INFO] Server started
2026-01-04 12:00:01 listening on 8443
ERROR: connection refused
Traceback (most recent call last):
ValueError: invalid literal for int()
  File "app.py", line 3, in main
    at Object.run (src/app.ts:10:3)
12 passed, 1 failed in 3.20s
Exit code 1
Bash: pytest -q
→ 3 passed
⏺ Bash(pytest -q)
Edit: src/app.py
drwxr-xr-x  2 root root 4096 Nov 16 19:24 src
src/app.py:12:3: F401 unused import
<local-command-stdout>done</local-command-stdout>
{"port": 8443}
https://example.org/a/b
""".strip().splitlines()

STATEMENTS = """
The gateway listens on 8443.
Use pnpm.
never use npm here
No production data is allowed in staging.
Should be 8080.
Does not work on Windows.
When you deploy, run the migrations first.
What matters: latency.
Why we chose Kafka: the queue must survive restarts.
Which is why we use pnpm.
Do the migrations before the deploy.
Have the tests run before each merge.
make sure the tests pass before you merge
go with PostgreSQL for billing
git is our version control
Docker is required for the integration tests.
git rebase is forbidden on main because it breaks the audit.
Please use tabs in Makefiles.
Run `make test` before each commit, because CI is slow.
yes, but only on port 8443
No, the port is 8081.
Ana owns billing
ok, we use Kafka now
Wir nutzen PostgreSQL.
Wie besprochen, nutzen wir PostgreSQL.
Kein Deployment am Freitag.
On n'utilise pas Kafka.
Quand on déploie, on lance les migrations.
No usamos Kafka en producción.
Como acordamos, usamos PostgreSQL.
Não usamos Kafka.
Мы не используем Kafka.
我们使用 PostgreSQL。
网关的端口是 8443
本番ではKafkaを使いません。
우리는 PostgreSQL을 사용합니다.
""".strip().splitlines()


@pytest.mark.parametrize("said", QUESTIONS)
def test_a_question_is_no_statement(said: str) -> None:
    assert not is_statement(said)
    assert any(is_question(part) for part in (said, *said.split(". ")))


@pytest.mark.parametrize("said", TALK + MACHINES)
def test_talk_and_what_machines_write_are_no_statements(said: str) -> None:
    assert not is_statement(said)


@pytest.mark.parametrize("said", STATEMENTS)
def test_what_tells_something_is_a_statement(said: str) -> None:
    assert is_statement(said)


def test_one_sentence_that_tells_something_is_enough() -> None:
    assert told("Hi! Which port is it?\n\n$ make run\nERROR: no such port\n\nThe gateway listens on 8443.") == [
        "The gateway listens on 8443."
    ]
    assert not is_statement("Hi! Which port is it?\n$ make run")
    assert not is_statement("```\nThe gateway listens on 8443.\n```")
    assert not is_statement("")


def test_what_takes_itself_back_is_no_firm_statement() -> None:
    assert is_statement("Maybe we use Kafka.")
    assert not is_statement("Maybe we use Kafka.", firm=True)
    assert is_statement("Maybe we use Kafka. The gateway listens on 8443.", firm=True)
