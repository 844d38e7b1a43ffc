"""The self-test of a deployed stack: keys, index, models, users, alarms, then one document from upload to deletion.

Each step prints what it checks and how long it took; the first that fails ends the test with a sentence that says what
to do. It works in a tenant of its own, with a user that is deleted again.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO

import httpx
from botocore.exceptions import BotoCoreError, ClientError

from functions.query.limits import overrides_in
from local.cli_demo import SAMPLES, sample_questions
from local.client import ApiClient, ApiError, NotInTime
from local.operate import Target, settings_of
from local.report import Reporter
from local.stack import pinecone_index, users
from local.stack.config import ALIAS, LocalStackError
from shared.adapters.openai import OpenAIChatModel, OpenAIEmbedder
from shared.adapters.retry import Retry
from shared.adapters.secrets import OPENAI_API_KEY, PINECONE_API_KEY, read_secret
from shared.errors import ConfigurationError, DependencyError, KeyRefused, RectoError
from shared.models import ChatMessage, ModelRequest
from shared.settings import Settings
from shared.telemetry import logger

TENANT = "recto-smoke-test"
DOCUMENT = "skarvnes-station-handbook.pdf"
READY_S = 300.0
GONE_S = 60.0
PROVIDER_S = 30.0
UNANSWERABLE = "Who won the football world cup of 1998?"


@dataclass
class SmokeTest:
    """One run against one stack. `seconds` are the times of the steps that passed."""

    target: Target
    report: Reporter
    seconds: dict[str, float] = field(default_factory=dict)
    settings: Settings = field(init=False)
    secret: Mapping[str, str] = field(init=False)

    def run(self) -> None:
        """Run all steps. Raises `LocalStackError` with what is wrong and what to do."""
        self._step("Settings of the query function", self.read_settings)
        self._step("Keys in the secret", self.check_keys)
        self._step("Pinecone index", self.check_index)
        self._step("Embedding model", self.check_embeddings)
        if self.settings.chat_model:
            self._step(f"Chat model {self.settings.chat_model}", self.check_chat)
        self._step("Ingest is on", self.check_ingest)
        self._step("Users", self.check_users)
        self._step("Alarms", self.check_alarms)
        with self._signed_in() as api:
            self._step("Upload, until it is ready", lambda: self.upload(api))
            self._step("A question, answered with a quote", lambda: self.ask(api))
            self._step("A question without an answer, refused", lambda: self.ask_the_unanswerable(api))
            self._step("Delete, until it is gone", lambda: self.delete(api))

    # --- the set-up ---

    def read_settings(self) -> None:
        """Read the settings that the query function runs with."""
        self.settings = settings_of(self.target)
        _ = self.settings.threshold  # raises when none is known for the embedding model
        overrides_in(self.settings.limit_overrides)  # raises when it cannot be read

    def check_keys(self) -> None:
        """Read both keys from the secret."""
        client = self.target.client("secretsmanager")
        self.secret = read_secret(client, self.target.outputs["SecretId"], required=(OPENAI_API_KEY, PINECONE_API_KEY))

    def check_index(self) -> None:
        """Find the index, and write, find and delete a vector in it."""
        pinecone_index.ensure(
            self.settings.pinecone_control_url,
            name=self.settings.pinecone_index,
            dimension=self.settings.embedding_dimensions,
            api_key=self.secret[PINECONE_API_KEY],
            create=False,
        )

    def check_embeddings(self) -> None:
        """Embed one text; its length must be the setting's."""
        embedder = OpenAIEmbedder(
            base_url=self.settings.openai_base_url,
            api_key=self.secret[OPENAI_API_KEY],
            space=self.settings.embedding_space,
            retry=Retry("embeddings", attempts=2),
        )
        what = f"The embedding model {self.settings.embedding_model}"
        with closing(embedder), _errors_explained(what, "the parameters OpenaiBaseUrl and EmbeddingModel"):
            embedder.embed(["A smoke test."], timeout_s=PROVIDER_S)

    def check_chat(self) -> None:
        """Ask the chat model for one word."""
        model = OpenAIChatModel(
            base_url=self.settings.chat_base_url or self.settings.openai_base_url,
            api_key=self.secret.get("CHAT_API_KEY") or self.secret[OPENAI_API_KEY],
            model=self.settings.chat_model,
            retry=Retry("chat", attempts=2),
        )
        what = f"The chat model {self.settings.chat_model}"
        with (
            closing(model),
            _errors_explained(what, "the parameters ChatBaseUrl and ChatModel, and CHAT_API_KEY in the secret"),
        ):
            words = [ChatMessage("user", "Say yes.")]
            request = ModelRequest(words, self.settings.max_output_tokens, self.settings.temperature)
            model.complete(request, timeout_s=PROVIDER_S)

    def check_ingest(self) -> None:
        """Check that the queues call the ingest function, and the OCR function where there is one."""
        for output, what in (("IngestFunctionName", "uploads"), ("OcrFunctionName", "scans")):
            if output in self.target.outputs or output == "IngestFunctionName":
                self._check_trigger(f"{self.target.outputs[output]}:{ALIAS}", what)

    def _check_trigger(self, name: str, what: str) -> None:
        found = self.target.lambda_.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
        if not any(each.get("State") in {"Enabled", "Creating", "Enabling"} for each in found):
            enable = "aws lambda update-event-source-mapping --enabled --uuid"
            mend = (
                f"enable its trigger with `{enable} {found[0]['UUID']}`" if found else "it has no trigger: deploy again"
            )
            raise LocalStackError(f"The queue does not call {name}, so {what} would wait for ever: {mend}.")

    def check_users(self) -> None:
        """Check that somebody can sign in."""
        found = self.target.cognito.list_users(UserPoolId=self.target.outputs["UserPoolId"], Limit=60)["Users"]
        tenants = {
            attribute.get("Value", "")
            for user in found
            for attribute in user.get("Attributes", [])
            if attribute["Name"] == users.TENANT_ATTRIBUTE
        }
        if not tenants - {TENANT}:
            raise LocalStackError(
                "Nobody can sign in yet: create a user with "
                '`make user ARGS="you@example.com --tenant NAME --role admin"` (on AWS with `--stack-name`).'
            )

    def check_alarms(self) -> None:
        """Check that the subscription of the alarm topic is confirmed, if there is one."""
        topic = self.target.outputs.get("AlarmTopicArn")
        if not topic:
            self.report.say("  no AlarmEmail is set: alarms are only in the console")
            return
        found = self.target.client("sns").list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
        waiting = [each["Endpoint"] for each in found if not each["SubscriptionArn"].startswith("arn:")]
        if waiting or not found:
            raise LocalStackError(
                f"Alarms reach nobody: {', '.join(waiting) or 'the topic'} has no confirmed subscription. "
                "Open the link in AWS's mail, or deploy with AlarmEmail again."
            )

    # --- one document ---

    def upload(self, api: ApiClient) -> None:
        """Upload a sample and wait until it can be queried."""
        self.document_id = api.upload(SAMPLES / DOCUMENT).document_id
        document = api.wait_until_final(self.document_id, timeout_s=READY_S)
        if document["status"] != "READY":
            raise LocalStackError(f"The sample ended as {document['status']}: {document['error']}")

    def ask(self, api: ApiClient) -> None:
        """Ask what the sample answers; the citation must hold the fact, and be of the right page."""
        expected = next(each for each in sample_questions() if each.doc == DOCUMENT)
        answer = api.query(expected.question)
        wanted = "generated" if self.settings.chat_model else "extractive"
        if answer["mode"] != wanted:
            warnings = ", ".join(answer["warnings"]) or "none"
            raise LocalStackError(f"The answer is {answer['mode']} instead of {wanted} (warnings: {warnings}).")
        if not any(
            citation["document_id"] == self.document_id and citation["page_start"] in expected.pages
            for citation in answer["citations"]
        ):
            raise LocalStackError(f"No citation is of page {expected.pages[0]} of the sample: {answer['answer']}")

    def ask_the_unanswerable(self, api: ApiClient) -> None:
        """Ask what no document answers."""
        answer = api.query(UNANSWERABLE)
        if not answer["no_relevant_info"]:
            raise LocalStackError(f"A question that no document answers was answered: {answer['answer']}")

    def delete(self, api: ApiClient) -> None:
        """Delete the sample and wait until it is gone."""
        api.delete_document(self.document_id)
        until = time.monotonic() + GONE_S
        while True:
            try:
                api.document(self.document_id)
            except ApiError as error:
                if error.status == 404:
                    return
                raise
            if time.monotonic() > until:
                raise LocalStackError(f"The sample is not gone {GONE_S:g} s after it was deleted.")
            time.sleep(0.5)

    # --- around it ---

    def _step(self, title: str, check: Callable[[], None]) -> None:
        begun = time.monotonic()
        with self.report.step(title):
            try:
                check()
            except (DependencyError, ConfigurationError) as error:
                raise LocalStackError(error.message) from error
            except (ApiError, NotInTime, BotoCoreError, ClientError, httpx.HTTPError) as error:
                raise LocalStackError(f"{title}: {error}") from error
        self.seconds[title] = time.monotonic() - begun

    @contextmanager
    def _signed_in(self) -> Iterator[ApiClient]:
        """Yield a client of a user who exists only for this test."""
        pool, client_id = self.target.outputs["UserPoolId"], self.target.outputs["UserPoolClientId"]
        user = users.User(f"smoke-{secrets.token_hex(4)}@example.com", TENANT, "editor")
        password = users.new_password()
        users.create(self.target.cognito, pool, user, password=password)
        try:
            answer = self.target.cognito.initiate_auth(
                ClientId=client_id,
                AuthFlow="USER_PASSWORD_AUTH",
                AuthParameters={"USERNAME": user.name, "PASSWORD": password},
            )
            with ApiClient(self.target.outputs["ApiUrl"], answer["AuthenticationResult"]["IdToken"], 60.0) as api:
                yield api
        finally:
            self.target.cognito.admin_delete_user(UserPoolId=pool, Username=user.name)


@contextmanager
def _errors_explained(what: str, check: str) -> Iterator[None]:
    """Turn a provider's error into a sentence, without printing its metric and log line."""
    level = logger.log_level
    logger.setLevel("CRITICAL")
    try:
        with redirect_stdout(StringIO()):
            yield
    except KeyRefused as error:
        said = error.message.removeprefix(f"{error.dependency}: ")
        raise LocalStackError(f"{what} cannot be used: {said}") from error
    except DependencyError as error:
        said = error.message.removeprefix(f"{error.dependency}: ")
        raise LocalStackError(f"{what} does not answer: {said}\nCheck {check}.") from error
    finally:
        logger.setLevel(level)


def smoke(target: Target, report: Reporter) -> int:
    """Run the self-test; 0 when every step passed."""
    test = SmokeTest(target, report)
    try:
        test.run()
    except (LocalStackError, RectoError, KeyError) as error:
        missing = f"The stack has no output {error}: deploy it again." if isinstance(error, KeyError) else ""
        report.markup("[bold red]The self-test failed[/]")
        report.say(missing or str(error))
        return 1
    report.markup(f"[bold green]The stack works[/] [dim]({sum(test.seconds.values()):.1f} s)[/]")
    return 0
