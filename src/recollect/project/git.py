"""Git: a repository, and what can be read of it.

A repository made by somebody else must not run anything here, and its configuration can name programs. So git gets a
configuration of ours with a few harmless settings copied; only `find` reads the real one. Every call is one process
with an argument list and a time limit (`tests/test_hostile_repository.py`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from ..errors import BadInput, GitUnavailable, NoRepository
from ..redact import redact
from ..regular_files import open_regular, read_text
from ..scratch import temporary
from ..times import EPOCH
from ..types import Noun

PATIENCE = 10.0  # seconds one question may take
MAX_OUTPUT = 64 * 1024 * 1024  # bytes of one answer that are looked at
MAX_TEXT = 4_000_000  # characters of a file in which a symbol is looked for
MAX_PACKED = 64 * 2**20  # bytes of the list of all references
MAX_FILES = 200  # files of one commit that are kept
COPIED = (
    r"^(core\.(filemode|ignorecase|symlinks|precomposeunicode|autocrlf|eol|excludesfile|hookspath)"
    r"|extensions\.(objectformat|refstorage)|branch\..*\.(remote|merge)|remote\..*\.fetch|remote\.origin\.url)$"
)  # the settings of a repository that count; none of them makes git run anything while it reads
# What the work trees of a repository share, less its configuration and its hooks.
SHARED = (
    "info", "logs", "modules", "objects", "packed-refs", "refs", "reftable", "shallow", "worktrees"
)  # fmt: skip
KEPT = ("HOME", "PATH", "TMPDIR", "XDG_CONFIG_HOME")  # the variables that git is started with
USUAL = ("main", "master", "trunk", "develop")  # what a default branch is called where nobody says
OPTIONS = (
    "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showSignature=false",
    "-c", "color.ui=never", "-c", "core.hooksPath=/dev/null", "-c", "log.follow=false",
)  # fmt: skip
SETTINGS = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none", "GIT_ATTR_NOSYSTEM": "1", "GIT_PAGER": "cat", "LC_ALL": "C.UTF-8",
}  # fmt: skip
NO_OTHER_CONFIGURATION = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
INTO_SUBMODULES = ("diff", "status")  # commands that start git inside submodules unless told otherwise
FIELDS = "%H%x00%P%x00%an%x00%ae%x00%at%x00%B%x00"
_STATUS = re.compile(r"[ACDMRTUXB][0-9]{0,3}")
_SHA = re.compile(r"[0-9a-f]{4,64}")


@dataclass(frozen=True, slots=True)
class Touched(Noun):
    """A file that a commit or the work at hand changed: A added, M modified, D deleted, R renamed, U in conflict."""

    path: str
    status: str = "M"
    added: int | None = None  # lines; none where they are not known, as of what is not text
    removed: int | None = None
    before: str = ""  # what it was called


@dataclass(frozen=True, slots=True)
class Commit(Noun):
    """One commit, its message rid of secrets."""

    sha: str
    parents: tuple[str, ...]
    author: str
    email: str
    at: datetime
    subject: str
    body: str = ""
    files: tuple[Touched, ...] = ()
    more: int = 0  # files beyond those that are told

    @property
    def message(self) -> str:
        return f"{self.subject}\n\n{self.body}" if self.body else self.subject


@dataclass(frozen=True, slots=True)
class CommitQuery:
    """What commits to look for. All of it must fit; `words` each somewhere in the message."""

    words: tuple[str, ...] = ()
    author: str = ""
    path: str = ""
    since: datetime | None = None
    until: datetime | None = None
    content: str = ""  # a text whose number of occurrences the commit changed
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, as seen from one folder. `root` is the top of the work tree; of a bare one, the repository."""

    root: Path
    git: Path  # what belongs to this work tree alone: HEAD, index
    common: Path  # what all its work trees share: refs, objects
    bare: bool = False
    shallow: bool = False
    above: str = ""  # the repository that this one is a submodule of
    settings: tuple[tuple[str, str], ...] = ()  # those of its configuration that count

    @property
    def linked(self) -> bool:
        """Whether it is a further work tree of a repository that is elsewhere."""
        return self.git != self.common

    def ask(
        self, *words: str, given: str | None = None, fine: Sequence[int] = (0,), patience: float = PATIENCE
    ) -> str:  # fmt: skip
        """What git answers; an end that is not `fine` is an error."""
        with self._shielded() as variables:
            return _run(self.root, words, given, fine, patience, variables).text

    def says(self, *words: str) -> bool:
        """Whether git ends well, for questions that are answered like that."""
        with self._shielded() as variables:
            return _run(self.root, words, None, (0, 1, 128), PATIENCE, variables).code == 0

    @contextmanager
    def _shielded(self) -> Iterator[dict[str, str]]:
        """The variables that show git a stand-in for the shared folder: all that lies in it, with our configuration."""
        with temporary() as shared:
            for name in SHARED:
                if (self.common / name).exists():
                    os.symlink(self.common / name, shared / name)
            (shared / "config").write_text(self._configuration(), "utf-8", "surrogateescape")
            tree = {} if self.bare else {"GIT_WORK_TREE": str(self.root)}
            yield {"GIT_DIR": str(self.git), "GIT_COMMON_DIR": str(shared), **tree, **NO_OTHER_CONFIGURATION}

    def _configuration(self) -> str:
        version = int(any(name.startswith("extensions.") for name, _ in self.settings))
        fixed = (("core.repositoryformatversion", str(version)), ("core.bare", "true" if self.bare else "false"))
        lines = []
        for name, value in (*fixed, *self.settings):
            section, _, rest = name.partition(".")
            part, _, key = rest.rpartition(".")
            lines.append(f"[{section} {_quoted(part)}]" if part else f"[{section}]")
            lines.append(f"{key} = {_quoted(value)}")
        return "\n".join(lines) + "\n"

    def refs(self) -> dict[str, str]:
        """Every branch, by its full name, with the commit it stands at."""
        told = self.ask("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes")
        return {name: sha for line in told.splitlines() for name, _, sha in [line.rpartition(" ")]}

    def default(self, refs: dict[str, str] | None = None) -> str:
        """The default branch: what the origin says, what is usually called so, or the only one there is."""
        remote = self.ask("symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD", fine=(0, 1, 128)).strip()
        if remote.startswith("origin/"):
            return remote.removeprefix("origin/")
        known = self.refs() if refs is None else refs
        local = [name.removeprefix("refs/heads/") for name in known if name.startswith("refs/heads/")]
        usual = next((name for name in USUAL if name in local), "")
        return usual or (local[0] if len(local) == 1 else "")

    def resolve(self, name: str) -> str:
        """The whole name of a commit, or nothing where there is none."""
        if not name or name.startswith("-"):
            return ""
        return self.ask("rev-parse", "--verify", "-q", f"{name}^{{commit}}", fine=(0, 1, 128)).strip()

    def contains(self, sha: str, tip: str) -> bool:
        """Whether a commit is in the history of another."""
        return self.says("merge-base", "--is-ancestor", sha, tip)

    def origin(self) -> str:
        """The address of the repository that this one was cloned from, however it is written; or nothing."""
        told = self.ask("config", "--get", "remote.origin.url", fine=(0, 1)).strip()
        return re.sub(r"^(?:\w+://)?(?:[^@/]+@)?|(?:\.git)?/*$", "", told).replace(":", "/").lower()

    def log(self, *words: str, limit: int, paths: Sequence[str] = (), files: bool = True) -> tuple[Commit, ...]:
        """Commits, newest first; of an empty repository none. `words` are options and names of commits of ours."""
        if not self.resolve("HEAD") and not any(_SHA.match(word) for word in words):
            return ()
        shown = ("--name-status", "-M", "--no-ext-diff") if files else ()
        told = self.ask(
            "log", "-z", f"--max-count={limit}", f"--format={FIELDS}", *shown, *words, "--", *paths,
            patience=3 * PATIENCE,
        )  # fmt: skip
        return tuple(read_commits(told))

    def search(self, wanted: CommitQuery) -> tuple[Commit, ...]:
        """The commits that fit, newest first, in the whole history of what is checked out."""
        words = ["-i", "--fixed-strings", "--all-match"]
        words += [f"--grep={word}" for word in wanted.words]
        words += [f"--author={wanted.author}"] if wanted.author else []
        words += [f"--since={wanted.since.timestamp():.0f}"] if wanted.since else []
        words += [f"--until={wanted.until.timestamp():.0f}"] if wanted.until else []
        words += [f"-S{wanted.content}", "--no-textconv"] if wanted.content else []
        paths = [self.inside(wanted.path)] if wanted.path else []
        return self.log(*words, "--full-diff", limit=wanted.limit, paths=paths)

    def history(self, path: str, limit: int = 50) -> tuple[Commit, ...]:
        """The commits that changed a file, also under the names it had before."""
        return self.log("--follow", limit=limit, paths=[self.inside(path)])

    def inside(self, path: str) -> str:
        """A path below the root, as git calls it; one that leads out of it is refused."""
        whole = os.path.normpath(self.root / path)
        below = os.path.relpath(whole, self.root)
        if below.startswith("..") or "\0" in path:
            raise BadInput(f"{path!r:.200} is not inside {self.root}.", fix="Name a file of the repository.")
        return below.replace(os.sep, "/")

    def hashes(self, paths: Sequence[str]) -> dict[str, str]:
        """The blob hash of each file of the work tree that is there, as git would store it now."""
        there = [path for path in paths if "\n" not in path and self._own(path)]
        if not there or self.bare:
            return {}
        told = self.ask("hash-object", "--stdin-paths", given="\n".join(there) + "\n").split()
        return dict(zip(there, told, strict=True))

    def hashes_at(self, revision: str, paths: Sequence[str]) -> dict[str, str]:
        """The blob hash of each file that a commit has."""
        wanted = [path for path in paths if "\n" not in path]
        if not wanted:
            return {}
        asked = "".join(f"{revision}:{path}\n" for path in wanted)
        told = self.ask("cat-file", "--batch-check=%(objecttype) %(objectname)", given=asked).splitlines()
        pairs = zip(wanted, told, strict=True)
        return {path: line.split()[1] for path, line in pairs if line.startswith("blob ")}

    def text_at(self, revision: str, path: str) -> str:
        """What a file says in a commit; with no commit, in the work tree. Empty where it is not there."""
        if revision:
            return self.ask("cat-file", "blob", f"{revision}:{path}", fine=(0, 128))[:MAX_TEXT]
        if not self._own(path):
            return ""
        with open_regular(self.root / path) as file:
            return file.read(4 * MAX_TEXT).decode("utf-8", "replace")[:MAX_TEXT]

    def _own(self, path: str) -> bool:
        """Whether a file is there and in the repository itself: a symbolic link may lead anywhere."""
        whole = self.root / path
        return whole.is_file() and os.path.realpath(whole) == os.path.join(os.path.realpath(self.root), path)


def find(folder: str | Path) -> Repository:
    """The repository a folder lies in."""
    here = Path(folder)
    if not here.is_dir():
        raise NoRepository(f"{here} is no folder.", fix="Name a folder inside a repository.")
    done = _run(
        here,
        ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--is-bare-repository",
         "--is-shallow-repository", "--is-inside-work-tree"),
        None, (0, 128), PATIENCE,
    )  # fmt: skip
    if done.code:
        if "dubious ownership" in done.trouble:
            raise NoRepository(
                f"{here} belongs to another user, and git will not read it.",
                fix=f"If you trust it: git config --global --add safe.directory {here}",
            )
        raise NoRepository(f"{here} is not inside a git repository.")
    git, common, bare, shallow, inside = done.text.splitlines()[:5]
    if inside != "true":  # bare, or inside the .git folder itself
        at = Path(git).parent if bare == "false" and Path(git).name == ".git" else Path(git)
        bare_one = Repository(at, Path(git), Path(common), at == Path(git), shallow == "true")
        return replace(bare_one, settings=_settings(here))
    told = _run(here, ("rev-parse", "--show-toplevel", "--show-superproject-working-tree"), None, (0,), PATIENCE)
    root, *above = told.text.splitlines()
    upper = above[0] if above else ""
    return Repository(Path(root), Path(git), Path(common), False, shallow == "true", upper, _settings(here))


def _settings(folder: Path) -> tuple[tuple[str, str], ...]:
    """The settings that count where a folder lies. Only the person says which file holds what is ignored everywhere."""
    told = _run(folder, ("config", "-z", "--show-scope", "--get-regexp", COPIED), None, (0, 1), PATIENCE).text
    found = []
    parts = told.split("\0")
    for scope, pair in zip(parts[0::2], parts[1::2], strict=False):
        name, _, value = pair.partition("\n")
        if value and (name != "core.excludesfile" or scope in ("global", "system")) and scope != "command":
            found.append((name, value))
    return tuple(found)


def _quoted(text: str) -> str:
    """A text as a configuration of git holds it.

    >>> print(_quoted('a"b'))
    "a\\"b"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def checked_out(folder: str | Path) -> tuple[Path, str] | None:
    """The top of the work tree a folder lies in and its branch, read from the files alone: a hook has no time for git.

    No branch where HEAD is on none, and nothing where no work tree is seen.
    """
    here = Path(os.path.normpath(folder))
    for top in (here, *here.parents):
        try:
            git = _git_folder(top)
            head = read_text(git / "HEAD").strip() if git else ""
        except OSError:
            return None
        if git:
            branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
            return top, "" if branch == ".invalid" else branch  # which stands there where refs are kept elsewhere
    return None


def feature_branch(folder: str | Path) -> str:
    """The branch that something learnt in a folder is staged on: none on the default branch, or where nobody knows."""
    found = checked_out(folder)
    default = _default(found[0]) if found else ""
    return found[1] if found and default and found[1] != default else ""


@dataclass(frozen=True, slots=True)
class BranchDifference:
    """How the work tree of a branch differs from the default branch: files that the branch changed, and others that
    only the default branch changed since."""

    branch: str = ""
    own: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()


def difference_from_default(repository: Repository) -> BranchDifference:
    """What is checked out against the default branch; nothing where that is checked out, or none is known."""
    branch = feature_branch(repository.root)
    default = repository.default() if branch else ""
    tip = repository.resolve(f"refs/heads/{default}") or repository.resolve(f"refs/remotes/origin/{default}")
    fork = repository.ask("merge-base", tip, "HEAD", fine=(0, 1, 128)).strip() if default and tip else ""
    if not fork:
        return BranchDifference()

    def names(*words: str) -> frozenset[str]:
        return frozenset(name for name in repository.ask(*words).split("\0") if name)

    compare = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff")
    new = names("ls-files", "-z", "--others", "--exclude-standard")
    changed, differs = names(*compare, fork), names(*compare, tip)
    return BranchDifference(branch, (changed & differs) | new, differs - changed)


def visible_branch(folder: str | Path) -> str:
    """The branch that memory is looked at from in a folder: the one checked out, or on none the default one."""
    found = checked_out(folder)
    return (found[1] or _default(found[0])) if found else ""


def _default(top: Path) -> str:
    try:
        git = _git_folder(top)
        return _default_by_files(_common(git)) if git else ""
    except OSError:
        return ""


def _git_folder(top: Path) -> Path | None:
    git = top / ".git"
    if git.is_dir():
        return git if (git / "HEAD").exists() else None
    if git.is_file():
        return top / read_text(git).partition(":")[2].strip()
    return None


def _common(git: Path) -> Path:
    link = git / "commondir"
    return git / read_text(link).strip() if link.exists() else git


def _default_by_files(common: Path) -> str:
    origin = common / "refs" / "remotes" / "origin" / "HEAD"
    if origin.exists():
        return read_text(origin).strip().removeprefix("ref: refs/remotes/origin/")
    packed = common / "packed-refs"
    known = read_text(packed, MAX_PACKED) if packed.exists() else ""
    for name in USUAL:
        if (common / "refs" / "heads" / name).exists() or f" refs/heads/{name}\n" in known:
            return name
    return ""


@dataclass(frozen=True, slots=True)
class _Done:
    code: int
    text: str
    trouble: str


def _run(
    folder: Path, words: Sequence[str], given: str | None, fine: Sequence[int], patience: float,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> _Done:  # fmt: skip
    # Few variables are kept: inside one of git's own hooks others name another repository, and some name programs.
    # A relative place to look for programs would be the folder that is read.
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    places = [place for place in kept.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]
    environment = {**kept, "PATH": os.pathsep.join(places), **SETTINGS, **variables}
    program = shutil.which("git", path=environment["PATH"])
    if not program:
        raise GitUnavailable("git is not installed, or not where the program looks for it.")
    if words[0] in INTO_SUBMODULES:
        words = (words[0], "--ignore-submodules=dirty", *words[1:])
    try:
        done = subprocess.run(
            [program, *OPTIONS, *words], cwd=folder, env=environment, timeout=patience, check=False,
            input=None if given is None else given.encode("utf-8", "surrogateescape"),
            stdin=subprocess.DEVNULL if given is None else None, capture_output=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise GitUnavailable(f"git {words[0]} took longer than {patience:g} seconds.", fix="Try it again.") from error
    except (OSError, ValueError) as error:
        raise GitUnavailable(f"git cannot be run in {folder}: {error}.") from error
    trouble = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode not in fine:
        raise GitUnavailable(f"git {words[0]} failed: {trouble.splitlines()[-1] if trouble else done.returncode}.")
    return _Done(done.returncode, done.stdout[:MAX_OUTPUT].decode("utf-8", "surrogateescape"), trouble)


def read_commits(told: str) -> Iterator[Commit]:
    """The commits in an answer of `git log -z` in the form of FIELDS, with the files where they are told.

    >>> told = chr(0).join(["ab12", "", "Ana", "a@x", "0", "Begin\\n", "", "\\nA", "x y.py", ""])
    >>> [(one.subject, [file.path for file in one.files]) for one in read_commits(told)]
    [('Begin', ['x y.py'])]
    """
    parts = told.split("\0")
    place = 0
    while place + 6 <= len(parts):
        sha, parents, author, email, at, message = parts[place : place + 6]
        place += 7  # the seventh is the empty end of the form
        files: list[Touched] = []
        while place < len(parts) and _STATUS.fullmatch(status := parts[place].lstrip("\n")):
            renamed = status[0] in "RC"
            names = parts[place + 1 : place + 3 if renamed else place + 2]
            files.append(Touched(printable(names[-1]), status[0], before=printable(names[0]) if renamed else ""))
            place += 3 if renamed else 2
        subject, _, body = redact(printable(message).strip())[0].partition("\n")
        yield Commit(
            sha.strip(), tuple(parents.split()), printable(author), printable(email), _moment(at),
            subject.strip(), body.strip(), tuple(files[:MAX_FILES]), max(0, len(files) - MAX_FILES),
        )  # fmt: skip


def _moment(seconds: str) -> datetime:
    """When a commit was made, as it says itself; what is no time at all is the beginning of time.

    >>> str(_moment("99999999999999")), str(_moment("60"))
    ('1970-01-01 00:00:00+00:00', '1970-01-01 00:01:00+00:00')
    """
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return EPOCH


def read_lines(told: str) -> dict[str, tuple[int | None, int | None]]:
    """Lines added and removed of each file, from an answer of `git diff --numstat -z`.

    >>> read_lines(chr(0).join(["1\\t2\\ta.py", "-\\t-\\tb.png", "0\\t0\\t", "old", "new", ""]))
    {'a.py': (1, 2), 'b.png': (None, None), 'new': (0, 0)}
    """
    found: dict[str, tuple[int | None, int | None]] = {}
    parts = iter(told.split("\0"))
    for part in parts:
        if part.count("\t") < 2:
            continue
        added, removed, path = part.split("\t", 2)
        if not path:  # renamed: both names follow
            next(parts, "")
            path = next(parts, "")
        found[printable(path)] = (int(added), int(removed)) if added != "-" else (None, None)
    return found


def printable(text: str) -> str:
    """Text that may be stored and sent: what is no UTF-8 in a name or a message is replaced.

    >>> printable("caf\\udce9")
    'caf\ufffd'
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
