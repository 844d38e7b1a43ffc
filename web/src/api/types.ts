/** The names that the page uses for what the API sends. */
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Answer = Schemas["QueryOut"];
export type Citation = Schemas["CitationOut"];
export type StoredCitation = Schemas["StoredCitationOut"];
export type Claim = Schemas["ClaimOut"];
export type Source = Schemas["SourceOut"];
export type Support = Schemas["SupportOut"];
export type ConversationHead = Schemas["ConversationHeadOut"];
export type Conversation = Schemas["ConversationOut"];
export type Message = Schemas["MessageOut"];
export type Document = Schemas["DocumentOut"];
export type DocumentDetail = Schemas["DocumentDetailOut"];
export type DocumentStatus = Schemas["DocumentStatus"];
export type Erasure = Schemas["ErasureOut"];
export type Handoff = Schemas["HandoffOut"];
export type HandoffDetail = Schemas["HandoffDetailOut"];
export type Faq = Schemas["FaqOut"];
export type Feedback = Schemas["FeedbackOut"];
export type ApiKey = Schemas["KeyOut"];
export type Report = Schemas["ReportOut"];
