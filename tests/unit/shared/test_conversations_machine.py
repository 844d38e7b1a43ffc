"""Conversations and feedback against a model: whatever users do, in any order, killed or not, what is found is what
the model holds, another user's things do not exist, and what was erased leaves nothing."""

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from mypy_boto3_dynamodb import DynamoDBClient

from shared.adapters.conversations import DynamoConversationStore
from shared.adapters.feedback import DynamoFeedbackStore
from shared.errors import NotFound
from shared.models import Feedback, FeedbackRating, Message
from tests.support.moto_aws import Killed, create_tables, kill_after

USERS = (("acme", "ann"), ("acme", "bob"), ("other", "ann"))
LIMIT = 2

User = tuple[str, str]
Users = st.sampled_from(USERS)
Which = st.integers(0, 50)


@dataclass
class Talk:
    """A conversation as the model knows it; `ratings` by message id."""

    owner: User
    title: str
    used_at: str
    messages: list[str]
    ratings: dict[str, str] = field(default_factory=dict)


@dataclass
class Listing:
    """A listing that has begun: what is to come, and its cursor."""

    owner: User
    to_come: list[str]
    cursor: str


def machine(client: DynamoDBClient) -> type[RuleBasedStateMachine]:
    """Return the machine on one mocked table."""

    class Conversations(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            create_tables(client, "ConversationsTable")
            self.store = DynamoConversationStore(client, "conversations")
            self.feedback = DynamoFeedbackStore(client, "conversations")
            self.talks: dict[str, Talk] = {}
            self.known: list[str] = []  # erased ones too
            self.said: list[str] = []
            self.unfinished: dict[str, User] = {}
            self.listing: Listing | None = None
            self.ticks = 0

        def teardown(self) -> None:
            client.delete_table(TableName="conversations")

        def tick(self) -> str:
            self.ticks += 1
            return f"2026-01-01T00:{self.ticks // 60:02d}:{self.ticks % 60:02d}.000+00:00"

        def turns(self, at: str) -> list[Message]:
            ids = [f"{len(self.said) + n:026d}" for n in range(2)]
            self.said += ids
            return [Message(ids[0], "user", f"Q{ids[0]}", at), Message(ids[1], "assistant", f"A{ids[1]}", at)]

        def one_of(self, names: list[str], which: int) -> str:
            return names[which % len(names)]

        @initialize(user=Users)
        def begin_first(self, user: User) -> None:
            self.begin_one(user)

        @rule(user=Users)
        def begin(self, user: User) -> None:
            self.begin_one(user)

        def begin_one(self, user: User) -> None:
            name, at = f"C{len(self.known):025d}", self.tick()
            turns = self.turns(at)
            self.store.save_turns(*user, name, title=f"About {name}", turns=turns, is_new=True)
            self.known.append(name)
            self.talks[name] = Talk(user, f"About {name}", at, [turn.message_id for turn in turns])

        @rule(which=Which, user=Users)
        def ask(self, which: int, user: User) -> None:
            name, at = self.one_of(self.known, which), self.tick()
            turns, talk = self.turns(at), self.talks.get(name)
            if talk is None or talk.owner != user:
                with pytest.raises(NotFound):
                    self.store.save_turns(*user, name, title="t", turns=turns, is_new=False)
                return
            self.store.save_turns(*user, name, title="t", turns=turns, is_new=False)
            talk.used_at = at
            talk.messages += [turn.message_id for turn in turns]

        @rule(which=Which, user=Users)
        def rename(self, which: int, user: User) -> None:
            name, title = self.one_of(self.known, which), f"Renamed {self.tick()}"
            talk = self.talks.get(name)
            renamed = self.store.rename(*user, name, title)
            assert (renamed is not None) == (talk is not None and talk.owner == user)
            if renamed is not None and talk is not None:
                talk.title = title

        @rule(which=Which, user=Users)
        def erase(self, which: int, user: User) -> None:
            name = self.one_of(self.known, which)
            talk = self.talks.get(name)
            is_theirs = (talk is not None and talk.owner == user) or self.unfinished.get(name) == user
            assert self.store.erase(*user, name) == is_theirs
            if is_theirs:
                self.talks.pop(name, None)
                self.unfinished.pop(name, None)

        @rule(which=Which, calls=st.integers(1, 4))
        def erase_and_die(self, which: int, calls: int) -> None:
            name = self.one_of(self.known, which)
            talk = self.talks.pop(name, None)
            if talk is None:
                return
            with pytest.MonkeyPatch.context() as patch:
                kill_after(patch, client, calls)
                with pytest.raises(Killed):
                    self.store.erase(*talk.owner, name)
            self.unfinished[name] = talk.owner

        @rule(user=Users)
        def finish_erasures(self, user: User) -> None:
            expected = {name for name, owner in self.unfinished.items() if owner == user}
            names = self.store.unfinished_erasures(*user)
            assert set(names) == expected
            for name in names:
                assert self.store.erase(*user, name)
                del self.unfinished[name]

        @rule(which=Which, user=Users, rating=st.sampled_from(["up", "down", None]))
        def rate(self, which: int, user: User, rating: FeedbackRating | None) -> None:
            message_id = self.one_of(self.said, which)
            name = next((name for name, talk in self.talks.items() if message_id in talk.messages), "")
            found = self.store.find_message(*user, message_id)
            assert (found is not None) == (bool(name) and self.talks[name].owner == user)
            if found is None or found.message.role == "user":
                return
            talk = self.talks[name]
            assert (found.conversation_id, found.asked) == (name, f"Q{int(message_id) - 1:026d}")
            if rating is None:
                assert self.feedback.remove(*user, found)
                talk.ratings.pop(message_id, None)
            else:
                assert self.feedback.put(*user, found, Feedback(rating, None, "why", self.tick()))
                talk.ratings[message_id] = rating

        @rule(which=Which, user=Users)
        def rate_while_it_is_erased(self, which: int, user: User) -> None:
            """The message was found just before; nothing may be left behind."""
            message_id = self.one_of(self.said, which)
            found = self.store.find_message(*user, message_id)
            if found is None or found.message.role == "user":
                return
            assert self.store.erase(*user, found.conversation_id)
            del self.talks[found.conversation_id]
            assert not self.feedback.put(*user, found, Feedback("up", None, "", self.tick()))
            assert not self.feedback.remove(*user, found)

        @rule(user=Users)
        def begin_listing(self, user: User) -> None:
            order = self.order_of(user)
            page, cursor = self.store.recent(*user, limit=LIMIT)
            assert [each.conversation_id for each in page] == order[:LIMIT]
            self.listing = Listing(user, order[LIMIT:], cursor) if cursor else None

        @rule()
        def go_on_listing(self) -> None:
            if self.listing is None:
                return
            left = [name for name in self.listing.to_come if name in self.talks]
            page, cursor = self.store.recent(*self.listing.owner, limit=LIMIT, cursor=self.listing.cursor)
            assert [each.conversation_id for each in page] == left[:LIMIT]
            self.listing = Listing(self.listing.owner, left[LIMIT:], cursor) if cursor else None

        def order_of(self, user: User) -> list[str]:
            own = [(talk.used_at, name) for name, talk in self.talks.items() if talk.owner == user]
            return [name for _, name in sorted(own, reverse=True)]

        @invariant()
        def each_user_finds_what_is_theirs(self) -> None:
            for user in USERS:
                listed, cursor = self.store.recent(*user, limit=100)
                own = [self.talks[name] for name in self.order_of(user)]
                assert cursor == ""
                assert [each.conversation_id for each in listed] == self.order_of(user)
                assert [(each.title, each.message_count) for each in listed] == [
                    (talk.title, len(talk.messages)) for talk in own
                ]

        @invariant()
        def editors_find_each_rating_once(self) -> None:
            for tenant in ("acme", "other"):
                given, _ = self.feedback.given(tenant, limit=100)
                assert {
                    each.message.message_id: each.message.feedback.rating for each in given if each.message.feedback
                } == {
                    message_id: rating
                    for talk in self.talks.values()
                    if talk.owner[0] == tenant
                    for message_id, rating in talk.ratings.items()
                } | self.ratings_left(tenant)

        def ratings_left(self, tenant: str) -> dict[str, str]:
            """What an erasure that was killed has left behind; it is finished later."""
            left = {owner for owner in self.unfinished.values() if owner[0] == tenant}
            if not left:
                return {}
            given, _ = self.feedback.given(tenant, limit=100)
            return {
                each.message.message_id: each.message.feedback.rating
                for each in given
                if each.message.feedback and each.conversation_id in self.unfinished
            }

        @invariant()
        def nothing_is_left_of_what_was_erased(self) -> None:
            if self.unfinished:
                return
            items = client.scan(TableName="conversations")["Items"]
            messages = sum(len(talk.messages) for talk in self.talks.values())
            ratings = sum(len(talk.ratings) for talk in self.talks.values())
            assert len(items) == len(self.talks) + 2 * messages + ratings

        @invariant()
        def each_message_shows_its_rating(self) -> None:
            for name, talk in self.talks.items():
                messages, _ = self.store.messages(*talk.owner, name, limit=100)
                assert [each.message_id for each in messages] == talk.messages
                shown = {each.message_id: each.feedback.rating for each in messages if each.feedback}
                assert shown == talk.ratings

    return Conversations


def test_conversations_are_what_a_model_says(dynamodb: DynamoDBClient) -> None:
    run_state_machine_as_test(
        machine(dynamodb),
        settings=settings(
            max_examples=8,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
