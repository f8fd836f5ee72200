"""`pyctrl simulate`: tries every fault against a program, in virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, Token
from cyclopts.validators import Number

from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import OUTPUT, OutputFile, ShippedProgram
from pyctrl.cli._simulate.budget import DEFAULT_BUDGET, Budget, budget_of

__all__ = ["app"]

PLANS = Group("Plans", sort_key=1)
SIMULATED = Group("Simulated world", sort_key=2)

EPILOGUE = epilogue(
    """\
# the program of this project, with its samples
pyctrl simulate

# crashes only, with an own scenario
pyctrl simulate examples/podset --only crash --scenario scenario.py:scale

# a failure again, with the line of its story
pyctrl simulate --replay "crash-during create jobs.batch default/web-*#1"

# longer, on four processors, with a report to read in a browser
pyctrl simulate --budget 10m -j 4 -o html --output-file report.html
""",
    {
        0: "the program survived",
        1: "a mistake was found, or failed",
        130: "interrupted by Ctrl-C, and nothing was found until then",
    },
)

app = CommandLine("simulate", help_epilogue=EPILOGUE)

Family = Literal[
    "crash", "error", "event", "stale", "leadership", "meddling", "external", "server", "clock", "webhook", "random"
]


def _schedule(_type: Any, tokens: Sequence[Token]) -> str:
    """Check a schedule. For `Parameter(converter=…)`."""
    from pyctrl.simulation import Schedule  # here: help needs none of it

    Schedule.parse(tokens[0].value)
    return tokens[0].value


@app.default
def simulate(
    target: ShippedProgram = None,
    /,
    *program_flags: Annotated[str, Parameter(show=False)],
    budget: Annotated[
        Budget, Parameter(group=PLANS, metavar="DURATION|RUNS", converter=budget_of, accepts_keys=False)
    ] = DEFAULT_BUDGET,
    only: Annotated[tuple[Family, ...], Parameter(group=PLANS, metavar="FAMILY")] = (),
    replay: Annotated[str | None, Parameter(group=PLANS, metavar="SCHEDULE", converter=_schedule)] = None,
    jobs: Annotated[int, Parameter(name=("--jobs", "-j"), group=PLANS, metavar="COUNT", validator=Number(gte=1))] = 1,
    scenario: Annotated[str | None, Parameter(group=SIMULATED, metavar="FILE.py:FUNCTION|FILE.yaml")] = None,
    replicas: Annotated[int, Parameter(group=SIMULATED, metavar="COUNT", validator=Number(gte=1))] = 1,
    seed: Annotated[int, Parameter(group=SIMULATED, metavar="NUMBER", validator=Number(gte=0))] = 0,
    output: Annotated[
        Literal["text", "json", "html"],
        Parameter(name=("--output", "-o"), group=OUTPUT, metavar="FORMAT", help="Output format."),
    ] = "text",
    output_file: OutputFile = None,
) -> int:
    """Try every fault against a program, and tell what breaks it.

    Runs the program in a simulated cluster, in virtual time: once without faults, and then once for each fault at each
    point of that run. The process is killed before, during and after each write; answers are lost or are errors;
    events are late, merged or missed; the cache is behind; the leadership is lost; someone deletes, changes and
    replaces objects; calls fail; the API server restarts. Afterwards it draws combinations of faults.

    In the end the world must be as it is without faults, and quiet. If it is not, the faults are reduced to the fewest
    that still break the program, and the story of the failure is printed. Nothing outside the process is changed.

    Parameters
    ----------
    program_flags
        Flags of the program itself.
    budget
        When to stop: after a time such as `60s` or `10m`, or after a number of runs.
    only
        Try only this family of faults; `random` are combinations. May be repeated.
    replay
        Try only these faults, from a story.
    jobs
        The number of processes that try faults at the same time.
    scenario
        What users do: an async function that takes a client, or the objects of a file, in order. Defaults to one made
        from the samples of the program: each is created, changed, deleted and created again.
    replicas
        The number of replicas, one of which leads.
    seed
        The seed of all that is drawn: latencies, generated names, and combinations of faults.
    """
    from pyctrl.cli._packaging_flags import find_program
    from pyctrl.cli._simulate.runner import SimulateRunner  # here: help and completion need none of it
    from pyctrl.simulation import ExploreOptions, Schedule, explore_program

    program, named, own = find_program(target, program_flags)
    return SimulateRunner(
        program=program,
        named=named,
        program_flags=own,
        scenario=scenario,
        options=ExploreOptions(
            seconds=budget.seconds,
            runs=budget.runs,
            seed=seed,
            only=only,
            replay=None if replay is None else Schedule.parse(replay),
            replicas=replicas,
            jobs=jobs,
        ),
        output=output,
        output_file=output_file,
        explore=explore_program,
    ).main()
