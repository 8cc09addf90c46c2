import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { buttonClasses } from "@/shared/ui/Button";
import { Page } from "@/shared/ui/Page";
import { Tabs } from "@/shared/ui/Tabs";
import { Definitions } from "./Definitions";
import { Runs } from "./Runs";

export default function WorkflowsPage() {
  const search = useSearch({ from: "/workflows" });
  const navigate = useNavigate();
  return (
    <Page
      title="Workflows"
      description="Work in several steps that survives restarts and waits for you where it should."
      actions={
        <Link to="/workflows/edit" search={{}} className={buttonClasses("primary")}>
          <Plus aria-hidden /> New workflow
        </Link>
      }
    >
      <Tabs
        label="Workflows"
        value={search.view === "runs" ? "runs" : "definitions"}
        onChange={(view) =>
          void navigate({ to: "/workflows", search: view === "runs" ? { view } : {}, replace: true })
        }
        tabs={[
          { value: "definitions", label: "Definitions", content: <Definitions /> },
          {
            value: "runs",
            label: "Runs",
            content: <Runs status={search.status} workflow={search.workflow} />,
          },
        ]}
      />
    </Page>
  );
}
