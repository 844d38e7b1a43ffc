"""The pdfium functions the engine calls, from pypdfium2's raw module, with plain integers for its pointers.

A page takes some thousands of calls. So the raw functions are called by their addresses: ctypes would build an object
for each pointer, which doubles the cost of a call, and would release the GIL, a fifth of it; the child that runs this
has one thread. `pypdfium2_raw` is what `pypdfium2.raw` re-exports, without the helpers' 35 ms of import.
"""

import ctypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ctypes import addressof, byref, c_char, c_void_p
from itertools import batched, chain, repeat
from struct import Struct
from typing import Any

import pypdfium2_raw as raw


def _fast(function: Any) -> Callable[..., Any]:
    result, *arguments = (
        c_void_p if hasattr(kind, "contents") else kind for kind in (function.restype, *function.argtypes)
    )
    return ctypes.PYFUNCTYPE(result, *arguments)(ctypes.cast(function, c_void_p).value or 0)


def _bare(function: Any) -> Callable[..., Any]:
    """Make a function that converts no arguments: they are `pointers_to(…)`, or integers of at most 31 bits.

    So a call takes half the time: converting each argument makes an object.
    """
    result = c_void_p if hasattr(function.restype, "contents") else function.restype
    return ctypes.PYFUNCTYPE(result)(ctypes.cast(function, c_void_p).value or 0)


def pointers_to(addresses: Iterable[int]) -> Iterator[Any]:
    """Return pointers as the functions of `_bare` take them; nothing is read there."""
    return map(byref, map(c_char.from_address, addresses))


AT_A_TIME = 256
"""Answers that pdfium writes one after the other, before they are read; always into the same place."""


class Values:
    """Asks pdfium for the same numbers of many things, without a Python loop.

    `function` writes `count` numbers of a `kind` (a letter of `struct`), to one address, or each `apart` to its own.
    `missing` stands for what pdfium has no numbers of.
    """

    def __init__(self, function: Any, kind: str, count: int, *, apart: bool = False, missing: Any = None) -> None:
        self._function, self._missing = _bare(function), missing
        self._numbers = Struct(f"{count}{kind}")
        each = self._numbers.size
        memory = ctypes.create_string_buffer(AT_A_TIME * each)
        self._memory = memoryview(memory)
        starts = range(0, each if apart else 1, each // count)
        self._places = [[byref(memory, at) for at in range(start, len(memory), each)] for start in starts]

    def of(self, things: Iterable[Any], *before: Any) -> Iterator[Any]:
        """Yield a tuple for each thing: a pointer, or a number; `before` is what the function takes before it."""
        return chain.from_iterable(map(self._some, batched(things, AT_A_TIME, strict=False), *map(repeat, before)))

    def _some(self, things: tuple[Any, ...], *before: Any) -> list[Any]:
        told = list(map(self._function, *map(repeat, before), things, *self._places))
        values: list[Any] = list(self._numbers.iter_unpack(self._memory[: len(things) * self._numbers.size]))
        return (
            values if all(told) else [value if has else self._missing for has, value in zip(told, values, strict=True)]
        )


NOWHERE = (0.0, 0.0, 0.0, 0.0)

init_library = _fast(raw.FPDF_InitLibrary)
load_document = _fast(raw.FPDF_LoadDocument)
last_error = _fast(raw.FPDF_GetLastError)
page_count = _fast(raw.FPDF_GetPageCount)
page_label = _fast(raw.FPDF_GetPageLabel)
meta_text = _fast(raw.FPDF_GetMetaText)
form_type = _fast(raw.FPDF_GetFormType)
count_attachments = _fast(raw.FPDFDoc_GetAttachmentCount)
get_attachment = _fast(raw.FPDFDoc_GetAttachment)
attachment_name = _fast(raw.FPDFAttachment_GetName)
load_page = _fast(raw.FPDF_LoadPage)
close_page = _fast(raw.FPDF_ClosePage)
page_box = _fast(raw.FPDF_GetPageBoundingBox)
page_rotation = _fast(raw.FPDFPage_GetRotation)
page_width = _fast(raw.FPDF_GetPageWidthF)
page_height = _fast(raw.FPDF_GetPageHeightF)

create_bitmap = _fast(raw.FPDFBitmap_CreateEx)
fill_bitmap = _fast(raw.FPDFBitmap_FillRect)
draw_page = _fast(raw.FPDF_RenderPageBitmap)
start_drawing = _fast(raw.FPDF_RenderPageBitmap_Start)
end_drawing = _fast(raw.FPDF_RenderPage_Close)
page_to_device = _fast(raw.FPDF_PageToDevice)
destroy_bitmap = _fast(raw.FPDFBitmap_Destroy)

first_bookmark = _fast(raw.FPDFBookmark_GetFirstChild)
next_bookmark = _fast(raw.FPDFBookmark_GetNextSibling)
bookmark_title = _fast(raw.FPDFBookmark_GetTitle)
bookmark_dest = _fast(raw.FPDFBookmark_GetDest)
bookmark_action = _fast(raw.FPDFBookmark_GetAction)
action_dest = _fast(raw.FPDFAction_GetDest)
dest_page = _fast(raw.FPDFDest_GetDestPageIndex)

load_text = _fast(raw.FPDFText_LoadPage)
close_text = _fast(raw.FPDFText_ClosePage)
count_characters = _fast(raw.FPDFText_CountChars)
get_text = _fast(raw.FPDFText_GetText)
get_unicode = _fast(raw.FPDFText_GetUnicode)
is_generated = _fast(raw.FPDFText_IsGenerated)
loose_box = _bare(raw.FPDFText_GetLooseCharBox)
loose_boxes = Values(raw.FPDFText_GetLooseCharBox, "f", 4, missing=NOWHERE)
text_object = _bare(raw.FPDFText_GetTextObject)

text_of_object = _fast(raw.FPDFTextObj_GetText)
object_font = _bare(raw.FPDFTextObj_GetFont)
object_font_sizes = Values(raw.FPDFTextObj_GetFontSize, "f", 1, missing=(0.0,))
object_render_mode = _bare(raw.FPDFTextObj_GetTextRenderMode)
font_name = _fast(raw.FPDFFont_GetBaseFontName)
font_flags = _fast(raw.FPDFFont_GetFlags)
glyph_width = _fast(raw.FPDFFont_GetGlyphWidth)

count_objects = _fast(raw.FPDFPage_CountObjects)
page_object = _bare(raw.FPDFPage_GetObject)
object_type = _fast(raw.FPDFPageObj_GetType)
object_bounds = Values(raw.FPDFPageObj_GetBounds, "f", 4, apart=True, missing=NOWHERE)
object_matrices = Values(raw.FPDFPageObj_GetMatrix, "f", 6, missing=(0.0,) * 6)
object_fills = Values(raw.FPDFPageObj_GetFillColor, "I", 4, apart=True)
object_strokes = Values(raw.FPDFPageObj_GetStrokeColor, "I", 4, apart=True)
set_active = _fast(raw.FPDFPageObj_SetIsActive)
path_draw_modes = Values(raw.FPDFPath_GetDrawMode, "i", 2, apart=True, missing=(0, 0))
count_segments = _bare(raw.FPDFPath_CountSegments)
form_count = _fast(raw.FPDFFormObj_CountObjects)
form_object = _bare(raw.FPDFFormObj_GetObject)

is_tagged = _fast(raw.FPDFCatalog_IsTagged)
load_tags = _fast(raw.FPDF_StructTree_GetForPage)
close_tags = _fast(raw.FPDF_StructTree_Close)
count_tags = _fast(raw.FPDF_StructTree_CountChildren)
tag = _fast(raw.FPDF_StructTree_GetChildAtIndex)
tag_type = _fast(raw.FPDF_StructElement_GetType)
count_within_tag = _fast(raw.FPDF_StructElement_CountChildren)
tag_within = _bare(raw.FPDF_StructElement_GetChildAtIndex)
mark_within = _fast(raw.FPDF_StructElement_GetChildMarkedContentID)
count_attributes = _fast(raw.FPDF_StructElement_GetAttributeCount)
attributes = _fast(raw.FPDF_StructElement_GetAttributeAtIndex)
attribute = _fast(raw.FPDF_StructElement_Attr_GetValue)
attribute_number = _fast(raw.FPDF_StructElement_Attr_GetNumberValue)
object_mark = _bare(raw.FPDFPageObj_GetMarkedContentID)

count_annotations = _fast(raw.FPDFPage_GetAnnotCount)
get_annotation = _fast(raw.FPDFPage_GetAnnot)
close_annotation = _fast(raw.FPDFPage_CloseAnnot)
annotation_kind = _fast(raw.FPDFAnnot_GetSubtype)
annotation_flags = _fast(raw.FPDFAnnot_GetFlags)
annotation_box = _fast(raw.FPDFAnnot_GetRect)
annotation_text = _fast(raw.FPDFAnnot_GetStringValue)

_init_forms = _fast(raw.FPDFDOC_InitFormFillEnvironment)
field_name = _fast(raw.FPDFAnnot_GetFormFieldName)
field_value = _fast(raw.FPDFAnnot_GetFormFieldValue)

Rect = raw.FS_RECTF
"""Left, top, right, bottom in points, y upwards."""

HIDDEN_FLAGS = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
FREE_TEXT, WIDGET = raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_WIDGET
GREY, WITH_ANNOTATIONS = raw.FPDFBitmap_Gray, raw.FPDF_ANNOT
COLOURS, RED_FIRST = raw.FPDFBitmap_BGR, raw.FPDF_ANNOT | raw.FPDF_REVERSE_BYTE_ORDER
"""Three bytes a pixel; in the order that PNG has them, with annotations."""
TEXT, PATH, IMAGE = raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE
SHADING, FORM = raw.FPDF_PAGEOBJ_SHADING, raw.FPDF_PAGEOBJ_FORM
DRAWN = raw.FPDF_RENDER_DONE
ERROR_PASSWORD, ERROR_SECURITY = raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY
"""It needs a password; it is encrypted in a way that is not supported, as for the holders of certain certificates."""
XFA_FULL = raw.FORMTYPE_XFA_FULL
"""Form type of a document whose pages only Adobe's programs can build, from a form description."""
FILLED_AND_STROKED = raw.FPDF_TEXTRENDERMODE_FILL_STROKE
INVISIBLE = raw.FPDF_TEXTRENDERMODE_INVISIBLE
"""Text rendering modes 2 and 3: both filled and stroked, and neither (ISO 32000-1, table 106)."""

_form_callbacks = raw.FPDF_FORMFILLINFO(version=1)
"""Callbacks of programs that fill in forms: none of the thirty is needed here."""


def open_form(document: int) -> int | None:
    """Load all fields of a document's form, for `field_name` and `field_value`; it stays until the process ends."""
    form: int | None = _init_forms(document, addressof(_form_callbacks))
    return form


@contextmanager
def pausing(is_over: Callable[[], bool]) -> Iterator[int]:
    """Make what `start_drawing` asks between a page's objects whether to stop; its address, valid in the block."""
    pause = raw.IFSDK_PAUSE(version=1)
    callback = dict(raw.IFSDK_PAUSE._fields_)["NeedToPauseNow"](lambda _: int(is_over()))
    pause.NeedToPauseNow = callback
    yield addressof(pause)


def utf16(function: Callable[..., int], *arguments: Any, limit: int = 4096) -> str:
    """Call one of pdfium's "give me a buffer" functions for text (bytes of UTF-16LE with a final NUL)."""
    size = function(*arguments, None, 0)
    if size <= 2 or size > 2 * limit:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, buffer, size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")
