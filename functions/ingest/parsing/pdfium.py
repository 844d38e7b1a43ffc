"""The pdfium functions the engine calls, with plain-integer handles.

The library is the one in the pypdfium2 wheel. Its Python bindings are passed by: importing them costs 90 ms a child,
and they build an object for each pointer, which doubles the cost of a call; a page needs some thousands of calls.
"""

import ctypes
import importlib.util
from collections.abc import Callable
from ctypes import POINTER, addressof, c_float, c_int, c_uint, c_ulong, c_void_p
from pathlib import Path
from typing import Any


def _load() -> ctypes.PyDLL:
    spec = importlib.util.find_spec("pypdfium2_raw")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for library in Path(folder).glob("*pdfium.*"):
            if library.suffix in {".so", ".dylib", ".dll"}:
                # The child has one thread: keeping the GIL saves a fifth of each of its thousands of calls.
                return ctypes.PyDLL(str(library))
    raise ImportError("No pdfium library: install pypdfium2 from its wheel.")


_pdfium = _load()


# What is asked for thousands of times a page is written to structures made once, whose addresses are passed as
# integers: pointer objects cost half as much as the calls.


class Rect(ctypes.Structure):
    """FS_RECTF: left, top, right, bottom in points, y upwards."""

    _fields_ = (("left", c_float), ("top", c_float), ("right", c_float), ("bottom", c_float))


class Matrix(ctypes.Structure):
    """FS_MATRIX: x' = a·x + c·y + e, y' = b·x + d·y + f."""

    _fields_ = tuple((name, c_float) for name in "abcdef")


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = _pdfium[name]
    function.restype, function.argtypes = result, arguments
    return function


_FLOATS = (POINTER(c_float),) * 4
_ADDRESSES = (c_void_p,) * 4

init_library = _function("FPDF_InitLibrary", None)
load_document = _function("FPDF_LoadDocument", c_void_p, ctypes.c_char_p, ctypes.c_char_p)
last_error = _function("FPDF_GetLastError", c_ulong)
page_count = _function("FPDF_GetPageCount", c_int, c_void_p)
page_label = _function("FPDF_GetPageLabel", c_ulong, c_void_p, c_int, c_void_p, c_ulong)
meta_text = _function("FPDF_GetMetaText", c_ulong, c_void_p, ctypes.c_char_p, c_void_p, c_ulong)
form_type = _function("FPDF_GetFormType", c_int, c_void_p)
count_attachments = _function("FPDFDoc_GetAttachmentCount", c_int, c_void_p)
get_attachment = _function("FPDFDoc_GetAttachment", c_void_p, c_void_p, c_int)
attachment_name = _function("FPDFAttachment_GetName", c_ulong, c_void_p, c_void_p, c_ulong)
load_page = _function("FPDF_LoadPage", c_void_p, c_void_p, c_int)
close_page = _function("FPDF_ClosePage", None, c_void_p)
page_box = _function("FPDF_GetPageBoundingBox", c_int, c_void_p, POINTER(Rect))

first_bookmark = _function("FPDFBookmark_GetFirstChild", c_void_p, c_void_p, c_void_p)
next_bookmark = _function("FPDFBookmark_GetNextSibling", c_void_p, c_void_p, c_void_p)
bookmark_title = _function("FPDFBookmark_GetTitle", c_ulong, c_void_p, c_void_p, c_ulong)
bookmark_dest = _function("FPDFBookmark_GetDest", c_void_p, c_void_p, c_void_p)
bookmark_action = _function("FPDFBookmark_GetAction", c_void_p, c_void_p)
action_dest = _function("FPDFAction_GetDest", c_void_p, c_void_p, c_void_p)
dest_page = _function("FPDFDest_GetDestPageIndex", c_int, c_void_p, c_void_p)

load_text = _function("FPDFText_LoadPage", c_void_p, c_void_p)
close_text = _function("FPDFText_ClosePage", None, c_void_p)
count_characters = _function("FPDFText_CountChars", c_int, c_void_p)
get_text = _function("FPDFText_GetText", c_int, c_void_p, c_int, c_int, c_void_p)
get_unicode = _function("FPDFText_GetUnicode", c_uint, c_void_p, c_int)
is_generated = _function("FPDFText_IsGenerated", c_int, c_void_p, c_int)
has_map_error = _function("FPDFText_HasUnicodeMapError", c_int, c_void_p, c_int)
loose_box = _function("FPDFText_GetLooseCharBox", c_int, c_void_p, c_int, c_void_p)
text_object = _function("FPDFText_GetTextObject", c_void_p, c_void_p, c_int)

object_font = _function("FPDFTextObj_GetFont", c_void_p, c_void_p)
object_font_size = _function("FPDFTextObj_GetFontSize", c_int, c_void_p, c_void_p)
object_render_mode = _function("FPDFTextObj_GetTextRenderMode", c_int, c_void_p)
font_name = _function("FPDFFont_GetBaseFontName", ctypes.c_size_t, c_void_p, c_void_p, ctypes.c_size_t)
font_flags = _function("FPDFFont_GetFlags", c_int, c_void_p)
font_weight = _function("FPDFFont_GetWeight", c_int, c_void_p)

count_objects = _function("FPDFPage_CountObjects", c_int, c_void_p)
page_object = _function("FPDFPage_GetObject", c_void_p, c_void_p, c_int)
object_type = _function("FPDFPageObj_GetType", c_int, c_void_p)
object_bounds = _function("FPDFPageObj_GetBounds", c_int, c_void_p, *_FLOATS)
object_matrix = _function("FPDFPageObj_GetMatrix", c_int, c_void_p, c_void_p)
object_fill = _function("FPDFPageObj_GetFillColor", c_int, c_void_p, *_ADDRESSES)
path_draw_mode = _function("FPDFPath_GetDrawMode", c_int, c_void_p, POINTER(c_int), POINTER(c_int))
form_count = _function("FPDFFormObj_CountObjects", c_int, c_void_p)
form_object = _function("FPDFFormObj_GetObject", c_void_p, c_void_p, c_ulong)

count_annotations = _function("FPDFPage_GetAnnotCount", c_int, c_void_p)
get_annotation = _function("FPDFPage_GetAnnot", c_void_p, c_void_p, c_int)
close_annotation = _function("FPDFPage_CloseAnnot", None, c_void_p)
annotation_kind = _function("FPDFAnnot_GetSubtype", c_int, c_void_p)
annotation_flags = _function("FPDFAnnot_GetFlags", c_int, c_void_p)
annotation_box = _function("FPDFAnnot_GetRect", c_int, c_void_p, POINTER(Rect))
annotation_text = _function("FPDFAnnot_GetStringValue", c_ulong, c_void_p, ctypes.c_char_p, c_void_p, c_ulong)

_init_forms = _function("FPDFDOC_InitFormFillEnvironment", c_void_p, c_void_p, c_void_p)
field_name = _function("FPDFAnnot_GetFormFieldName", c_ulong, c_void_p, c_void_p, c_void_p, c_ulong)
field_value = _function("FPDFAnnot_GetFormFieldValue", c_ulong, c_void_p, c_void_p, c_void_p, c_ulong)

FREE_TEXT, WIDGET = 3, 20
HIDDEN_FLAGS = 2 | 32
"""Annotation flags Hidden and NoIndexVersion (ISO 32000-1, table 165)."""

TEXT, PATH, IMAGE, SHADING, FORM = 1, 2, 3, 4, 5
ERROR_PASSWORD, ERROR_SECURITY = 4, 5
XFA_FULL = 2
"""Form type of a document whose pages are to be made from a form description, which only Adobe's programs do."""

INVISIBLE = 3
"""Text rendering mode 3: neither filled nor stroked (ISO 32000-1, table 106)."""


def open_form(document: int) -> int | None:
    """Load all fields of a document's form, for `field_name` and `field_value`; it stays until the process ends."""
    _form_callbacks.version = 1
    form: int | None = _init_forms(document, addressof(_form_callbacks))
    return form


class _FormCallbacks(ctypes.Structure):
    """FPDF_FORMFILLINFO: a version, and some thirty functions for programs that let people fill a form in."""

    _fields_ = (("version", c_int), ("functions", c_void_p * 64))


_form_callbacks = _FormCallbacks()


def utf16(function: Callable[..., int], *arguments: Any, limit: int = 4096) -> str:
    """Call one of pdfium's "give me a buffer" functions for text (bytes of UTF-16LE with a final NUL)."""
    size = function(*arguments, None, 0)
    if size <= 2 or size > 2 * limit:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, buffer, size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")
