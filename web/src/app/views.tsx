import { t } from "../i18n/frame.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { lazy } from "./Lazy.tsx";
import type { Route } from "./router.ts";

const ChatView = lazy(() => import("../chat/ChatView.tsx"));
const DocumentsView = lazy(() => import("../documents/DocumentsView.tsx"));
const DocumentView = lazy(() => import("../documents/DocumentView.tsx"));
const QueueView = lazy(() => import("../people/QueueView.tsx"));
const HandoffView = lazy(() => import("../people/HandoffView.tsx"));
const FaqsView = lazy(() => import("../people/FaqsView.tsx"));
const UnansweredView = lazy(() => import("../people/UnansweredView.tsx"));
const FeedbackView = lazy(() => import("../people/FeedbackView.tsx"));
const AdminView = lazy(() => import("../admin/AdminView.tsx"));

/** The view of a route. */
export function View({ at }: { at: Route }) {
  switch (at.name) {
    case "chat":
      return <ChatView conversation_id={null} />;
    case "conversation":
      return <ChatView conversation_id={at.conversation_id} />;
    case "documents":
      return <DocumentsView />;
    case "document":
      return <DocumentView document_id={at.document_id} page={at.page} />;
    case "queue":
      return <QueueView />;
    case "handoff":
      return <HandoffView handoff_id={at.handoff_id} />;
    case "faqs":
      return <FaqsView />;
    case "unanswered":
      return <UnansweredView />;
    case "feedback":
      return <FeedbackView />;
    case "admin":
      return <AdminView />;
    case "nowhere":
      return (
        <EmptyState icon="help" title={t("nowhere")} action={<a href="#/">{t("nowhere_back")}</a>}>
          {t("nowhere_text")}
        </EmptyState>
      );
  }
}
