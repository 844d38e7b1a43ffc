"""Conversations on the deployed stack: the index follows the table, and the role may erase what it wrote."""

from local.client import ApiClient

STATION = "How many people can winter at Skarvnes station?"


def test_a_conversation_is_listed_rated_renamed_exported_and_erased(api: ApiClient, samples: dict[str, str]) -> None:
    conversation_id = api.query(STATION)["conversation_id"]
    path = f"/conversations/{conversation_id}"
    asked = api.request("POST", f"{path}/messages", json={"question": "And in summer?"})
    assert (asked.status_code, asked.json()["conversation_id"]) == (200, conversation_id)
    feedback = f"/messages/{asked.json()['message_id']}/feedback"
    assert api.request("DELETE", feedback).status_code == 204
    assert api.request("PUT", feedback, json={"rating": "up"}).status_code == 200
    rated = api.request("GET", "/feedback", params={"limit": "50"}).json()["feedback"]
    assert asked.json()["message_id"] in [each["message_id"] for each in rated]
    assert api.request("PATCH", path, json={"title": "The station's winter"}).json()["message_count"] == 4
    listed = api.request("GET", "/conversations", params={"q": "the station's", "limit": "1"}).json()["conversations"]
    assert [each["conversation_id"] for each in listed] == [conversation_id]
    exported = api.request("GET", f"{path}/export")
    assert exported.headers["content-disposition"].startswith('attachment; filename="The station s winter.md"')
    assert api.request("DELETE", path).status_code == 204
    assert api.request("GET", path).status_code == 404
    assert conversation_id not in api.request("GET", "/conversations", params={"limit": "200"}).text
