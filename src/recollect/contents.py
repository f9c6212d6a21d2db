"""The contents of the command line: each command's section, the module it is in, and its help in one line.

`recollect --help` prints this and a command loads its own module, so that neither pays for all the others.
`tests/test_cli.py` holds that it says what the commands say themselves.
"""

CONTENTS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "remember": ("cli", "Remember one thing, said in TEXT or piped in."),
        "recall": ("cli", "Find memories by meaning, words, links and time, best first."),
        "ask": ("serve.answering", "Answer a question from memory, at once if it was asked before."),
        "context": ("cli", "Print what to give an assistant for QUERY, within a budget."),
        "brief": ("project.bank_commands", "Show what an assistant is told when a session starts in this folder."),
        "tour": ("cli", "See every verb once, in a store that is removed afterwards."),
    },
    "Look": {
        "list": ("cli", "List memories, newest first."),
        "show": ("cli", "Show one memory whole: its source, evidence and links."),
        "why": ("serve.history_commands", "Show why a memory is there: source, trust, changes, uses."),
        "history": ("cli", "Show every change of a memory: who, when, why, what it was."),
        "state": ("serve.history_commands", "Show what was known of an entity at a time."),
        "audit": ("serve.history_commands", "Show who did what, and who read across projects."),
        "stats": ("cli", "Count the memories, and tell how large the store is."),
        "usage": ("cli", "Tell what models cost, by day, project, operation and model."),
        "answers": ("serve.answering", "Look after the answers that are kept."),
        "git": ("project.git_commands", "Where the repository of this folder stands, and what is at hand."),
        "commits": ("project.git_commands", "Search the commits of this repository."),
    },
    "Change": {
        "edit": ("cli", "Change a memory; with no option, open its text in $EDITOR."),
        "link": ("cli", "Tie two memories, such as NEW supersedes OLD."),
        "rate": ("serve.history_commands", "Say whether a memory helped where it was shown last."),
        "forget": ("cli", "Forget memories by id, by a query, or all inside a scope."),
        "reject": ("cli", "Forget memories and never let what they say come back."),
        "review": ("tap.review", "Approve or reject what was found and waits for a person."),
        "checkpoint": ("serve.history_commands", "Name a state, see what changed since, and go back."),
        "task": ("project.git_commands", "Keep what is being worked on from one session to the next."),
        "verify": ("project.git_commands", "Look whether what memories cite still stands."),
    },
    "Serve": {
        "serve": ("serve.commands", "Start the daemon that assistants talk to."),
        "status": ("serve.commands", "Show whether the daemon runs, where, and what was captured."),
        "top": ("serve.upkeep_commands", "Watch a daemon at work: requests, recall, queue, index, cost."),
        "stop": ("serve.commands", "End the daemon, once what it is doing is done."),
        "logs": ("serve.commands", "Show the daemon's log."),
        "service": ("serve.commands", "Let the system start the daemon when you log in."),
        "mcp": ("serve.commands", "Speak MCP on standard input and output, for an assistant to start."),
        "hook": ("serve.commands", "Take an event of an assistant's hooks on standard input."),
        "token": ("serve.granting", "Let a program or person from elsewhere in, and out again."),
        "webhook": ("serve.granting", "Have every change posted to an address."),
    },
    "Keep": {
        "ingest": ("project.commands", "Take in a file or folder: decisions, incidents, code, documents."),
        "capture": ("tap.commands", "Take in transcripts and chat exports, and keep what is worth it."),
        "bank": ("project.bank_commands", "The markdown knowledge bank: anti-patterns, patterns and heuristics."),
        "watch": ("project.bank_commands", "Follow the markdown files in FOLDER as they change, until interrupted."),
        "hold": ("serve.history_commands", "Keep things from being erased."),
        "retention": ("serve.history_commands", "Say how long things are kept."),
        "export": ("cli", "Write everything to a file of JSON lines."),
        "import": ("cli", "Take in a file of JSON lines."),
        "embed": ("cli", "Give a vector to every memory that has none of today's model."),
        "jobs": ("cli", "Show background work: its state, attempts and errors."),
        "migrate-store": ("cli", "Copy a whole store, such as from a file to PostgreSQL."),
        "backup": ("serve.upkeep_commands", "Write the whole store to a file at PATH, and verify it."),
        "restore": ("serve.upkeep_commands", "Put the backup at PATH in the place of the store."),
        "scan": ("tap.commands", "Find secrets in what is stored, and redact them."),
        "doctor": ("cli", "Look at every part, and say how to mend what is broken."),
        "janitor": ("serve.upkeep_commands", "Keep memories clean: duplicates, contradictions, old ones."),
        "health": ("serve.upkeep_commands", "Measure whether the index finds what exact search finds."),
        "eval": ("cli", "Measure how well memories are found, beside plain search."),
    },
    "Set up": {
        "install": ("install.commands", "Connect an assistant: its hooks and its MCP server."),
        "uninstall": ("install.commands", "Take out what install put in, and leave everything else as it was."),
        "config": ("cli", "Show the settings, and where each comes from."),
        "completion": ("cli", "Print the completion script of a shell."),
        "version": ("cli", "Show the versions of the program and of what it runs on."),
    },
}

# Where each command is.
MODULES = {name: module for section in CONTENTS.values() for name, (module, _) in section.items()}
