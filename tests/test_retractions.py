"""Retractions without a replacement end what they take back, and nothing else."""

from __future__ import annotations

import pytest

from recollect import Engine, Message
from recollect.remember.retraction import ends, retraction

SISTER, STAGING, KAFKA = (
    "My sister lives in Porto.",
    "The staging server is at staging.acme.dev.",
    "We use Kafka for events.",
)
ENDS = [
    ("I do not have a sister.", SISTER),
    ("I don't have a sister.", SISTER),
    ("I misspoke, I do not have a sister.", SISTER),
    ("Actually, I don't have a sister.", SISTER),
    ("I don't have a sister, that was a mistake.", SISTER),
    ("I do not have a sister after all.", SISTER),
    ("There is no staging server, I was wrong.", STAGING),
    ("I have no sister.", SISTER),
    ("I never had a sister.", SISTER),
    ("I don't have a sister at all.", SISTER),
    ("No, I do not have a sister in Porto.", SISTER),
    ("We no longer use Kafka.", KAFKA),
    ("We don't use Kafka any more.", KAFKA),
    ("We do not use Kafka anymore.", KAFKA),
    ("We stopped using Kafka.", KAFKA),
    ("We dropped Kafka.", KAFKA),
    ("We got rid of Kafka.", KAFKA),
    ("We've abandoned Kafka.", KAFKA),
    ("We no longer use Kafka for events.", KAFKA),
    ("To be clear, we never used Kafka.", KAFKA),
    ("There is no staging server.", STAGING),
    ("There's no staging server any more.", STAGING),
    ("There is no longer a staging server.", STAGING),
    ("There isn't a staging server.", STAGING),
    ("There never was a staging server.", STAGING),
    ("We don't have a staging server now.", STAGING),
    ("We have no staging server.", STAGING),
    ("The staging server no longer exists.", STAGING),
    ("The staging server is gone.", STAGING),
    ("The staging server was decommissioned.", STAGING),
    ("The staging server does not exist.", STAGING),
    ("I no longer own a car.", "I drive my car to work on Mondays."),
    ("My dog is gone.", "My dog is called Rex."),
    ("We don't run a nightly backup any more.", "The nightly backup runs at two."),
    ("We retired the legacy API.", "Our legacy API listens on port 8080."),
    ("I haven't got a sister.", SISTER),
    ("We haven't used Kafka for a year.", KAFKA),
    ("We are not using Kafka any longer.", KAFKA),
    ("We aren't using Kafka anymore.", KAFKA),
    ("Kafka is not in use any more.", KAFKA),
    ("Kafka has been removed.", KAFKA),
    ("Kafka is history.", KAFKA),
    ("Kafka is gone.", KAFKA),
    ("We migrated away from Kafka.", KAFKA),
    ("We do without Kafka now.", KAFKA),
    ("The staging server was turned off.", STAGING),
    ("We took down the staging server.", STAGING),
    ("There has never been a staging server.", STAGING),
    ("The nightly job doesn't run any more.", "The nightly job runs at two."),
    ("The nightly job no longer runs.", "The nightly job runs at two."),
    ("We deleted the nightly job.", "Our nightly job runs at two."),
    ("I don't prefer tabs any more.", "I prefer tabs over spaces."),
    ("My dog died.", "I have a dog named Rex."),
    ("Marta no longer owns the billing service.", "Marta owns the billing service."),
    ("Marta doesn't own the billing service any more.", "Marta owns the billing service."),
    ("We stopped deploying the docs by hand.", "We deploy the docs by hand."),
]  # fmt: skip
STANDS = [
    ("Do I not have a sister?", SISTER),
    ("Don't we have a staging server?", STAGING),
    ("If I had no sister, I would travel.", SISTER),
    ("Suppose there is no staging server.", STAGING),
    ("I wish we had no staging server.", STAGING),
    ("We should not use Kafka.", KAFKA),
    ("We would no longer use Kafka.", KAFKA),
    ("I do not have a brother.", SISTER),
    ("I do not have a sister in Berlin.", SISTER),
    ("I do not have a sister.", "Ana's sister lives in Porto."),
    ("I do not have a sister.", "Her sister lives in Porto."),
    ("I do not have a sister.", "The sister company is in Porto."),
    ("We no longer use Kafka for metrics.", KAFKA),
    ("We no longer use Kafka.", "The customer uses Kafka for events."),
    ("We no longer use Kafka.", "We use Kafka for events and Redis for sessions."),
    ("We don't use Kafka on Fridays.", KAFKA),
    ("We don't use Kafka yet.", KAFKA),
    ("We don't have enough Kafka brokers.", KAFKA),
    ("There is no staging server in Frankfurt.", STAGING),
    ("There is no problem with the staging server.", STAGING),
    ("There is no access to the staging server.", STAGING),
    ("The production server is gone.", STAGING),
    ("Don't use Kafka.", KAFKA),
    ("Ana does not have a sister.", SISTER),
    ("Marta no longer owns the billing service.", "Marta owns the checkout service."),
    ("Marta no longer owns the billing service.", "Ben owns the billing service."),
    ("The nightly job no longer runs on weekends.", "The nightly job runs at two."),
    ("We no longer use Kafka for sessions.", KAFKA),
    ("Kafka is dead slow.", KAFKA),
    ("We have not migrated away from Kafka.", KAFKA),
    ("I don't run any more tests against Kafka.", KAFKA),
    ("Does Marta no longer own the billing service?", "Marta owns the billing service."),
    ("Marta may no longer own the billing service and the shop.", "Marta owns the billing service."),
    ("I don't have time for my sister.", SISTER),
    ("We have no Kafka or Redis experts.", KAFKA),
]  # fmt: skip


def test_there_are_many_wordings() -> None:
    assert len(ENDS) + len(STANDS) >= 40


@pytest.mark.parametrize(("said", "known"), ENDS)
def test_a_retraction_ends_what_it_takes_back(said: str, known: str) -> None:
    found = retraction(said)
    assert found is not None
    assert found.is_sure
    assert ends(found, known)


@pytest.mark.parametrize(("said", "known"), STANDS)
def test_what_takes_nothing_back_ends_nothing(said: str, known: str) -> None:
    found = retraction(said)
    assert found is None or not ends(found, known)


def states(memory: Engine) -> dict[str, str]:
    every = ["active", "pending", "superseded", "invalid"]
    return {one.content: one.state for one in memory.list(states=every).memories if one.kind != "turn"}


@pytest.mark.parametrize(
    "said", ["I do not have a sister.", "Actually, I don't have a sister.", "Forget that I have a sister.",
             "It is not true that I have a sister."]
)  # fmt: skip
def test_talk_takes_back_what_was_said_in_talk(memory: Engine, said: str) -> None:
    memory.capture([Message("user", f"Remember: {SISTER}")], session="s")
    memory.capture([Message("user", "Remember: Ana's sister lives in Rome.")], session="s")
    memory.capture([Message("user", said)], session="s2")
    found = states(memory)
    assert found[SISTER] in ("superseded", "invalid")
    assert found["Ana's sister lives in Rome."] == "active"


def test_a_hedged_retraction_waits_for_a_person(memory: Engine) -> None:
    memory.capture([Message("user", f"Remember: {KAFKA}")], session="s")
    memory.capture([Message("user", "I think we no longer use Kafka.")], session="s2")
    found = states(memory)
    assert found[KAFKA] == "active"
    assert "active" not in [state for said, state in found.items() if said != KAFKA]
