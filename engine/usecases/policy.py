"""Says what a policy is and whether it fits a domain.

Nothing of the user's is executed here: networks are loaded as weights, plug-ins are only read.
"""

from __future__ import annotations

from pathlib import Path

from engine.campaign.inputs import read_file
from engine.campaign.recognize import plugin_factories
from engine.errors import PlumblineError
from engine.pddl import read_domain
from engine.pddl.model import Domain
from engine.policies.consent import Consent, consent_name
from engine.policies.kinds import portfolio_files
from engine.policies.policy import close_policy, open_policy
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.records.project import PolicyChecked
from engine.workers.link import Link


def describe_policies(link: Link, name: str, domain: str | None) -> tuple[PolicyChecked, ...]:
    """Describe a policy, or all policies in a folder, and check them against a domain file."""
    known = read_domain(domain) if domain else None
    named = PolicySpec.parse(name, base="")
    files = portfolio_files(Path(named.place)) if named.kind is SpecKind.FOLDER else ()
    specs = [str(path) for path in files] or [name]
    found: list[PolicyChecked] = []
    for spec in specs:
        link.check()
        link.progress(len(found), len(specs), spec)
        found.append(describe_policy(spec, known))
    return tuple(found)


def check_policy(spec: str, domain: Domain | None, consent: Consent) -> PolicyChecked:
    """What a policy is, or what is wrong with it; a server is asked only with consent."""
    try:
        if PolicySpec.parse(spec).kind is SpecKind.SERVER and consent.objection(spec):
            return PolicyChecked(spec, "remote", consent=consent_name(spec))
        return describe_policy(spec, domain)
    except PlumblineError as error:
        return PolicyChecked(spec, error=str(error))


def describe_policy(spec: str, domain: Domain | None) -> PolicyChecked:
    """What a policy is, and whether it fits the domain."""
    name, factories = consent_name(spec), _factories(PolicySpec.parse(spec))
    policy = open_policy(spec)
    try:
        info = policy.describe()
        misfits = policy.misfits(domain) if domain is not None else ()
    finally:
        close_policy(policy)
    return PolicyChecked(
        spec,
        info.kind,
        info.domain,
        dict(info.details),
        misfits,
        consent=name,
        factories=factories,
        compared=domain is not None,
    )


def _factories(spec: PolicySpec) -> tuple[str, ...]:
    """What a plug-in's file offers; it is read, not run."""
    if spec.kind is not SpecKind.PLUGIN:
        return ()
    return tuple(plugin_factories(read_file(spec.place).content.decode("utf-8", "replace")))
