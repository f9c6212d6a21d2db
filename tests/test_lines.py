"""Lines: what a user typed is told from what was pasted."""

from __future__ import annotations

import pytest

from recollect.capture.lines import typed

TYPED = [
    "we keep invoices for ten years, the auditors insist on it",
    "please never touch the generated client by hand",
    "wir deployen nur noch dienstags, weil der Support dann besetzt ist",
    "não use o banco de produção nos testes",
    "我们只支持 Python 3.12 以上的版本",
    "no, the queue lives in Redis. Postgres only has the audit table",
]
PASTED = [
    'Traceback (most recent call last):\n  File "/srv/app/main.py", line 41, in <module>\n    run(sys.argv[1:])\n'
    "KeyError: 'tenant'",
    "2026-03-02 10:11:12,003 INFO  worker-3 retrying job=1841 attempt=2\n"
    "2026-03-02 10:11:14,120 ERROR worker-3 gave up job=1841",
    "diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1,3 +1,3 @@\n-    return x\n+    return x + 1",
    "total 24\ndrwxr-xr-x 2 ana staff 4096 Mar  2 10:01 src\n-rw-r--r-- 1 ana staff  812 Mar  2 10:01 setup.cfg",
    "const total = items.reduce((sum, item) => sum + item.price, 0);\nexport default total;",
]


@pytest.mark.parametrize("said", TYPED)
def test_what_was_typed_is_kept_in_any_language(said: str) -> None:
    assert typed(said) == said


def test_most_of_what_was_pasted_is_left_out_and_what_was_typed_before_it_is_kept() -> None:
    """The model errs on single lines, such as `total 24`; what it may not do is lose the user's words."""
    left = total = 0
    for said in TYPED[:3]:
        for pasted in PASTED:
            kept = typed(f"{said}\n\n{pasted}").split("\n")
            assert kept[0] == said
            total += len(kept) - 2
            left += sum(not line for line in kept[2:])
    assert left / total >= 0.85


def test_fenced_code_and_quotes_are_left_out_and_lines_keep_their_places() -> None:
    turn = "use the wrapper:\n```sh\nmake wrap\n```\n> you said otherwise\nand never call it twice"
    kept = typed(turn).split("\n")
    assert kept == ["use the wrapper:", "", "", "", "", "and never call it twice"]


def test_a_line_that_asks_to_remember_was_typed() -> None:
    assert typed("#remember Aucun accès à `pay()` sans Ana, sorry.")
