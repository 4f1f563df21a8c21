"""Jobs of the window without the start of a process: a second of imports for each of them."""

from __future__ import annotations

from engine.workers.channel import Call, Command, End, Events
from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.link import JobProgress
from engine.workers.supervisor import Report, Supervisor
from engine.workers.worker import find_function, perform
from reference.bug_workspace import ReportingLink


class InThread(Supervisor):
    """Makes the call itself; what the work says is encoded as between processes."""

    def __init__(self, call: Call, report: Report, limits: ProcessLimits = NO_LIMITS) -> None:
        super().__init__(call, report, limits)
        self._link = _JobLink(limits, report)

    def order(self, command: Command) -> None:
        super().order(command)
        getattr(self._link, command.value)()

    def _supervise(self) -> End:
        function = find_function(self._call.function)
        end = perform(function, self._link, self._call.arguments_for(function))
        self._link.close()
        return End(stopped=True) if self.stopping and end.failure is None else end


class _JobLink(ReportingLink):
    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self.report(Events((), JobProgress(done, total, text)))
