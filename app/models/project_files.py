"""The project of a workspace, and what is known about each of its files.

One per document, shared by the screens. Files are checked in the background whenever the project
or one of its files changes; then the policies are tried on the problems. Adding and removing can
be undone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot
from PySide6.QtGui import QUndoCommand

from app.models.project_problems import ProblemRow
from app.services.context import Context
from app.services.document import Document
from app.services.jobs import Job
from app.services.settings import consent, grant
from engine.campaign.recognize import Found, recognize_all
from engine.errors import PlumblineError
from engine.pddl import Diagnostic, Severity
from engine.records.config import CampaignConfig
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.records.project import (
    DomainChecked,
    PolicyChecked,
    PolicyRan,
    PoolChecked,
    PoolTried,
    ProblemChecked,
    Project,
    ProjectChecked,
    TaskMeasured,
    is_grounded,
)
from engine.report.policy_text import TaskFit, policy_name
from engine.report.words import count_text

EDITED_MILLISECONDS = 300
"""An editor writes a file in several steps."""
CHANGED_MILLISECONDS = 30
"""Several changes at once are checked once."""


def project_files(context: Context) -> ProjectFiles:
    """Return the files of this document's project."""
    known = context.document.findChild(ProjectFiles)
    return known if isinstance(known, ProjectFiles) else ProjectFiles(context)


class ProjectFiles(QObject):
    changed = Signal()  # other files
    checked = Signal()  # more is known about the same files

    def __init__(self, context: Context) -> None:
        super().__init__(context.document)
        self._context = context
        self.project = self._stored()
        self.domain: DomainChecked | None = None
        self.policies: dict[str, PolicyChecked] = {}
        self.pools: dict[str, PoolChecked] = {}
        self.rows: dict[str, ProblemRow] = {}
        self._job: Job | None = None
        self._is_checked = True
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._on_file_changed)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.check)
        self._document.changed.connect(self._on_document_changed)
        self._document.closing.connect(self._soon.stop)
        self._fill_rows()
        if not self.project.is_empty:
            self._await_check()
            QTimer.singleShot(0, self, self._check_soon)  # the window is to appear first

    @Slot()
    def _check_soon(self) -> None:
        if self._job is None:
            self._soon.start(CHANGED_MILLISECONDS)

    def _await_check(self) -> None:
        self._is_checked = False
        for row in self.rows.values():
            row.is_waiting = True

    def _stored(self) -> Project:
        """Read the project; start a new one if it is damaged. Campaigns are not affected."""
        try:
            return self._document.store.project()
        except PlumblineError as error:
            self._context.messages.error(f"Cannot read the files of this project: {error}")
            return Project()

    @property
    def _document(self) -> Document:
        return self._context.document

    @property
    def is_checking(self) -> bool:
        """Whether files are being checked for errors."""
        return self._soon.isActive() or not self._is_checked

    @property
    def is_busy(self) -> bool:
        """Whether files are being checked, or policies tried."""
        return self.is_checking or self._job is not None

    def add(self, paths: Iterable[str | Path]) -> Found:
        """Add usable files, also those in folders; return what was found."""
        found = recognize_all(paths)
        after = self.project.with_files(
            domain=found.domains[0] if found.domains else None,
            problems=found.problems,
            policies=found.policies,
            portfolio=found.portfolio,
            pools=found.pools,
            profile=found.profiles[-1] if found.profiles else None,
        )
        if self.project.is_empty and found.campaigns:
            after = self._with_campaign(after, found.campaigns[0])
        kinds = (found.domains, found.problems, found.policies, found.pools, found.profiles)
        count = sum(map(len, kinds))
        self._push(after, f"add {count_text(count, 'file')}")
        if found.pools and self.project.draft is not None:
            self.set_draft(replace(self.project.draft, pool=found.pools[-1]))
        return found

    def add_policy(self, spec: str) -> None:
        self._push(self.project.with_files(policies=[spec]), f"add {policy_name(spec)}")

    def add_server(self, address: str) -> None:
        """Add a server; naming it grants consent to ask it."""
        spec = str(PolicySpec(SpecKind.SERVER, address))
        grant(self._context.settings, spec)
        self.add_policy(spec)

    def add_config(self, config: CampaignConfig) -> None:
        """Add the files of a campaign."""
        after = self.project.with_files(
            domain=config.domain,
            problems=config.problems,
            policies=config.policies,
            pools=_pools_of(config),
        )
        self._push(
            replace(after, portfolio=config.portfolio, unit_costs=config.unit_costs),
            "add files of a campaign",
        )

    def remove(self, names: Iterable[str]) -> None:
        gone = list(names)
        what = self._short_name(gone[0]) if len(gone) == 1 else count_text(len(gone), "file")
        self._push(self.project.without(gone), f"remove {what}")

    def _short_name(self, name: str) -> str:
        return policy_name(name) if name in self.project.policies else Path(name).name

    def use_factory(self, spec: str, factory: str) -> None:
        """Use another function of the same plug-in."""
        other = str(replace(PolicySpec.parse(spec), factory=factory))
        policies = tuple(other if name == spec else name for name in self.project.policies)
        self._push(replace(self.project, policies=policies), f"use {factory}")

    def set_unit_costs(self, unit_costs: bool) -> None:
        what = "use unit costs" if unit_costs else "use action costs"
        self._push(replace(self.project, unit_costs=unit_costs), what)

    def trust(self, spec: str) -> None:
        """Grant consent to run a plug-in as it is now, or to ask a server."""
        grant(self._context.settings, spec)
        self.check()

    def set_draft(self, draft: CampaignConfig) -> None:
        """Keep the campaign of the form."""
        if draft != self.project.draft:
            self._set(replace(self.project, draft=draft))

    def apply(self, project: Project) -> None:
        """Replace the files of the project and keep its other settings."""
        before = self.project
        draft = before.draft or project.draft
        self._set(replace(project, draft=draft))
        if (before.domain, before.unit_costs) != (project.domain, project.unit_costs):
            self.rows.clear()
        self._fill_rows()
        self.changed.emit()
        self._soon.start(CHANGED_MILLISECONDS)

    def is_trusted(self, spec: str) -> bool:
        """Whether a policy may be used: plug-ins and servers need the user's consent."""
        return not consent(self._context.settings).objection(spec)

    def task_fit(self, name: str) -> TaskFit:
        """Return the problems that a pool, a cache or a server fits."""
        fits, misfits = [], []
        for path, row in self.rows.items():
            run, pool = row.runs.get(name), row.pools.get(name)
            if run is not None and run.outcome is None:
                misfits.append(run.reason)
            elif pool is not None and pool.error:
                misfits.append(pool.error)
            elif run is not None or pool is not None:
                fits.append(path)
        has_domain = self.project.domain is not None
        return TaskFit(tuple(fits), tuple(misfits), not self.is_busy, has_domain)

    def diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        if self.domain is not None and path == self.domain.path:
            return self.domain.diagnostics
        row = self.rows.get(path)
        return row.checked.diagnostics if row is not None and row.checked is not None else ()

    def errors(self) -> list[Diagnostic]:
        paths = [self.project.domain or "", *self.project.problems]
        found = [item for path in paths for item in self.diagnostics(path)]
        return [item for item in found if item.severity is Severity.ERROR]

    def obstacles(self) -> dict[str, str]:
        """Return the problems that cannot be tested, and why."""
        return {path: row.obstacle for path, row in self.rows.items() if row.obstacle}

    def without_dominance(self) -> dict[str, str]:
        """Return problems without a dominance function, and what oracles do instead."""
        tasks = {path: row.task for path, row in self.rows.items() if row.task is not None}
        return {path: task.no_dominance for path, task in tasks.items() if task.no_dominance}

    def _domain_error(self, problem: str) -> Diagnostic | None:
        if is_grounded(problem) or self.domain is None or self.project.domain is None:
            return None
        found = self.domain.diagnostics
        return next((item for item in found if item.severity is Severity.ERROR), None)

    @Slot()
    def check_again(self) -> None:
        """Check everything again, including servers and earlier failures."""
        for row in self.rows.values():
            row.forget_trouble()
        self.check()

    @Slot()
    def check(self) -> None:
        """Check what may have changed."""
        from engine.usecases.check_project import look_at_project  # after the window has appeared

        self._soon.stop()
        self._stop()
        self._watch()
        for row in self.rows.values():
            row.forget_all_but((*self.project.policies, *self.project.pools))
        if self.project.is_empty:
            self._is_checked = True
            self.domain, self.policies, self.pools = None, {}, {}
        else:
            self._await_check()
            known = frozenset(pair for row in self.rows.values() for pair in row.known)
            granted = consent(self._context.settings)
            job = self._context.jobs.start(
                "Check files", look_at_project, self.project, known, granted
            )
            job.events.connect(self._on_events)
            job.ended.connect(self._on_ended)
            self._job = job
        self.checked.emit()

    def _push(self, after: Project, text: str) -> None:
        if after != self.project:
            self._document.undo_stack.push(_Change(self, self.project, after, text))

    def _set(self, project: Project) -> None:
        try:
            self._document.store.set_project(project)
        except PlumblineError as error:
            self._context.messages.error(f"Cannot save the project: {error}")
        self.project = project
        self._document.notify("project")

    def _with_campaign(self, project: Project, path: str) -> Project:
        """Use the files that the campaign in a folder names."""
        try:
            from engine.campaign.config_reader import read_config  # all oracles, which takes long

            config = read_config(path)
        except PlumblineError as error:
            self._context.messages.warning(f"Cannot use the campaign file: {error}")
            return project
        return replace(
            project.with_files(
                domain=config.domain,
                problems=config.problems,
                policies=config.policies,
                pools=_pools_of(config),
            ),
            unit_costs=config.unit_costs,
            draft=config,
        )

    def _fill_rows(self) -> None:
        known = self.rows
        self.rows = {path: known.get(path) or ProblemRow(path) for path in self.project.problems}

    def _watch(self) -> None:
        """Watch the files again, because editors replace them."""
        project = self.project
        policies = [PolicySpec.parse(spec).path for spec in project.policies]
        names = [project.domain, *project.problems, *project.pools, *policies]
        files = [str(name) for name in names if name is not None]
        if watched := self._watcher.files():
            self._watcher.removePaths(watched)
        if there := [name for name in files if os.path.isfile(name)]:
            self._watcher.addPaths(there)

    def _stop(self) -> None:
        if self._job is not None:
            job, self._job = self._job, None
            job.events.disconnect(self._on_events)
            job.ended.disconnect(self._on_ended)
            job.stop()

    @Slot(list)
    def _on_events(self, events: list[object]) -> None:
        for event in events:
            match event:
                case DomainChecked():
                    self.domain = event
                case PolicyChecked():
                    self.policies[event.spec] = event
                case PoolChecked():
                    self.pools[event.path] = event
                case ProblemChecked(path=path) if path in self.rows:
                    self.rows[path].checked = event
                    self.rows[path].domain_error = self._domain_error(path)
                case TaskMeasured(problem=path) if path in self.rows:
                    self.rows[path].task = event
                case PolicyRan(problem=path) if path in self.rows:
                    self.rows[path].runs[event.policy] = event
                case PoolTried(problem=path) if path in self.rows:
                    self.rows[path].pools[event.pool] = event
                case ProjectChecked():
                    self._is_checked = True
        self.checked.emit()

    @Slot()
    def _on_ended(self) -> None:
        self._job, self._is_checked = None, True
        for row in self.rows.values():
            row.is_waiting = False
        self.checked.emit()

    @Slot(str)
    def _on_file_changed(self, path: str) -> None:
        """Forget what was known about the file; a change of the domain affects all files."""
        if path == self.project.domain:
            self.rows.clear()
            self._fill_rows()
        elif path in self.rows:
            self.rows[path] = ProblemRow(path)
        for row in self.rows.values():
            row.forget(path)
        self._soon.start(EDITED_MILLISECONDS)
        self.changed.emit()

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        """Read the project again: another screen may have added a trained policy."""
        if topic != "project":
            return
        stored = self._stored()
        if stored != self.project:
            self.project = stored
            self._fill_rows()
            self.changed.emit()
            self.check()


def _pools_of(config: CampaignConfig) -> tuple[str, ...]:
    return () if config.pool is None else (config.pool,)


class _Change(QUndoCommand):
    def __init__(self, files: ProjectFiles, before: Project, after: Project, text: str) -> None:
        super().__init__(text)
        self._files, self._before, self._after = files, before, after

    def undo(self) -> None:
        self._files.apply(self._before)

    def redo(self) -> None:
        self._files.apply(self._after)
