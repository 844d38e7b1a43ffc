"""How the query line's events look on the wire."""

from functions.query.events import CitationFound, Delta, Done, Event, Sources, SupportFound
from functions.query.schemas import CitationOut, QueryOut, SourceOut, SupportOut
from functions.query.streaming import Told


def told_of(event: Event) -> Told:
    """Return the event's name and its data."""
    match event:
        case Sources(sources, bands):
            return "sources", {"sources": [each.model_dump() for each in SourceOut.all_of(sources, bands)]}
        case Delta(text):
            return "delta", {"text": text}
        case CitationFound(citation):
            return "citation", CitationOut.of(citation).model_dump()
        case SupportFound(support, band, confidence):
            shown = SupportOut.model_validate(support, from_attributes=True).model_dump()
            return "support", {"support": shown, "band": band.value, "confidence": confidence}
        case Done(answer):
            return "done", QueryOut.of(answer).model_dump()
