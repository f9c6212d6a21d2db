"""The contents of the command line: each command's section, the module it is in, and its help in one line.

`recollect --help` prints this and a command loads its own module, so that neither pays for all the others.
`tests/test_cli.py` holds that it says what the commands say themselves.
"""

CONTENTS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "remember": ("memories", "Remember one thing, said in TEXT or piped in."),
        "recall": ("memories", "Find memories by meaning, words, links and time, best first."),
        "ask": ("answers", "Answer a question from memory, at once if it was asked before."),
        "context": ("memories", "Print what to give an assistant for QUERY, within a budget."),
        "brief": ("bank", "Show what an assistant is told when a session starts in this folder."),
        "tour": ("memories", "See every verb once, in a store that is removed afterwards."),
    },
    "Look": {
        "list": ("memories", "List memories, newest first."),
        "show": ("memories", "Show one memory whole: its source, evidence and links."),
        "why": ("history", "Show why a memory is there: source, trust, changes, uses."),
        "history": ("memories", "Show every change of a memory: who, when, why, what it was."),
        "state": ("history", "Show what was known of an entity at a time."),
        "audit": ("history", "Show who did what, and who read across projects."),
        "stats": ("memories", "Count the memories, and tell how large the store is."),
        "usage": ("memories", "Tell what models cost, by day, project, operation and model."),
        "answers": ("answers", "Look after the answers that are kept."),
        "git": ("project", "Where the repository of this folder stands, and what is at hand."),
        "commits": ("project", "Search the commits of this repository."),
    },
    "Change": {
        "edit": ("memories", "Change a memory; with no option, open its text in $EDITOR."),
        "link": ("memories", "Tie two memories, such as NEW supersedes OLD."),
        "rate": ("history", "Say whether a memory helped where it was shown last."),
        "forget": ("memories", "Forget memories by id, by a query, or all inside a scope."),
        "reject": ("memories", "Forget memories and never let what they say come back."),
        "review": ("review", "Approve or reject what was found and waits for a person."),
        "checkpoint": ("history", "Name a state, see what changed since, and go back."),
        "task": ("project", "Keep what is being worked on from one session to the next."),
        "verify": ("project", "Look whether what memories cite still stands."),
    },
    "Serve": {
        "serve": ("daemon", "Start the daemon that assistants talk to."),
        "status": ("daemon", "Show whether the daemon runs, where, and what was captured."),
        "dashboard": ("daemon", "Open the page in a browser, logged in; starts the daemon if need be."),
        "top": ("upkeep", "Watch a daemon at work: requests, recall, queue, index, cost."),
        "stop": ("daemon", "End the daemon, once what it is doing is done."),
        "logs": ("daemon", "Show the daemon's log."),
        "service": ("daemon", "Let the system start the daemon when you log in."),
        "mcp": ("daemon", "Speak MCP on standard input and output, for an assistant to start."),
        "hook": ("daemon", "Take an event of an assistant's hooks on standard input."),
        "token": ("access", "Let a program or person from elsewhere in, and out again."),
        "webhook": ("access", "Have every change posted to an address."),
    },
    "Keep": {
        "ingest": ("ingest", "Take in a file or folder: decisions, incidents, code, documents."),
        "capture": ("capture", "Take in transcripts and chat exports, and keep what is worth it."),
        "bank": ("bank", "The markdown knowledge bank: anti-patterns, patterns and heuristics."),
        "watch": ("bank", "Follow the markdown files in FOLDER as they change, until interrupted."),
        "hold": ("history", "Keep things from being erased."),
        "retention": ("history", "Say how long things are kept."),
        "export": ("memories", "Write everything to a file of JSON lines."),
        "import": ("memories", "Take in a file of JSON lines."),
        "embed": ("memories", "Give a vector to every memory that has none of today's model."),
        "jobs": ("memories", "Show background work: its state, attempts and errors."),
        "migrate-store": ("memories", "Copy a whole store, such as from a file to PostgreSQL."),
        "backup": ("upkeep", "Write the whole store to a file at PATH, and verify it."),
        "restore": ("upkeep", "Put the backup at PATH in the place of the store."),
        "scan": ("capture", "Find secrets in what is stored, and redact them."),
        "doctor": ("memories", "Look at every part, and say how to mend what is broken."),
        "janitor": ("upkeep", "Keep memories clean: duplicates, contradictions, old ones."),
        "health": ("upkeep", "Measure whether the index finds what exact search finds."),
        "eval": ("memories", "Measure how well memories are found, beside plain search."),
    },
    "Set up": {
        "install": ("install", "Connect an assistant: its hooks and its MCP server."),
        "uninstall": ("install", "Take out what install put in, and leave everything else as it was."),
        "config": ("memories", "Show the settings, and where each comes from."),
        "completion": ("memories", "Print the completion script of a shell."),
        "version": ("memories", "Show the versions of the program and of what it runs on."),
    },
}

# Where each command is.
MODULES = {name: module for section in CONTENTS.values() for name, (module, _) in section.items()}
