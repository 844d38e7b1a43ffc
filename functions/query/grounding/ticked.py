"""The options of a form that are ticked: "May swim: ☐ Yes ☒ No" tells "May swim: No"."""

import re

_UNTICKED = "☐□❏❑"
_TICKED = "☑☒✓✔✗✘"
_BOX = rf"[{_UNTICKED}{_TICKED}]"
_LABEL = rf"[^\s{_UNTICKED}{_TICKED}|;:][^{_UNTICKED}{_TICKED}|;:\n]{{0,60}}?"
_BEFORE = re.compile(
    rf"(?:(?<=\A)|(?<=[:|\n])|(?<=[:|;] )){_BOX} ?{_LABEL}(?:[ ,/]*{_BOX} ?{_LABEL})+(?=\s*(?:[|;\n.]|\Z))"
)
"""Options behind their boxes, from the beginning of a line, of a cell, or of what a label introduces."""
_VERDICT = r"(?:[Yy]es|[Nn]o|[Jj]a|[Nn]ein|[Oo]ui|[Nn]on|[Ss]í|[Tt]aip|[Nn]e)"
_BEHIND = re.compile(rf"(?<![{_UNTICKED}{_TICKED}] )(?<!\w){_VERDICT} ?{_BOX}[ ,/]*{_VERDICT} ?{_BOX}")
"""Yes and no before their boxes: "Yes ☒ No ☐"."""
_OPTION_BEFORE = re.compile(rf"({_BOX}) ?({_LABEL})[ ,/]*(?={_BOX}|\Z)")
_OPTION_BEHIND = re.compile(rf"({_VERDICT}) ?({_BOX})")


def with_ticked_only(text: str) -> str:
    """Return a text with the ticked ones of options only; those of which none or all are ticked stay as they are."""
    if not any(map(text.__contains__, _TICKED)):
        return text
    return _BEFORE.sub(_before, _BEHIND.sub(_behind, text))


def _before(options: re.Match[str]) -> str:
    found = [(box, label.strip(" ,/")) for box, label in _OPTION_BEFORE.findall(options.group())]
    return _ticked_of(options.group(), found)


def _behind(options: re.Match[str]) -> str:
    return _ticked_of(options.group(), [(box, label) for label, box in _OPTION_BEHIND.findall(options.group())])


def _ticked_of(whole: str, options: list[tuple[str, str]]) -> str:
    ticked = [label for box, label in options if box in _TICKED]
    return ", ".join(ticked) if 0 < len(ticked) < len(options) else whole
