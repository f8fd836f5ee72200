"""Guesses: each class of mistakes is recognised in a handwritten run, with the names of the objects."""

from __future__ import annotations

from pyctrl.simulation._guess import guess
from pyctrl.simulation._run import ProblemKind
from tests.unit.simulation._script import JOB, PARENT, Script, evidence, owned, problem

END_STATE = ProblemKind.END_STATE


def one_job(schedule: str = "") -> Script:
    """Return a run in which the operator creates one Job for a PodSet."""
    return Script(schedule).user("create", PARENT).begin()


def two_writes(schedule: str = "") -> Script:
    """Return a reference in which a ConfigMap follows a Job in the same reconcile."""
    return one_job(schedule).write("create", JOB).write("create", "configmaps default/web").done()


def test_create_is_not_idempotent() -> None:
    """A second object after a lost answer is a create that is not idempotent."""
    reference = one_job().write("create", "jobs default/web-a", generate="web-").done()
    run = one_job("crash-during create jobs default/web-*#1").fault()
    run.write("create", "jobs default/web-b", generate="web-", status=0, has_effect=True).restart()
    run.begin().write("create", "jobs default/web-c", generate="web-").done()
    assert guess(evidence(reference, run, problem(END_STATE, "jobs default/web-c"))) == (
        "create is not idempotent: after the lost answer, a second Job was made; "
        "give it a deterministic name or adopt by owner"
    )


def test_random_names_of_the_operator_count_as_well() -> None:
    """A second object with a name that the operator drew is one more of its kind."""
    reference = one_job().write("create", "jobs default/web-a").done()
    run = one_job("answer-lost create jobs default/web-b#1").write("create", "jobs default/web-b").fault()
    run.done("connection reset").begin().write("create", "jobs default/web-c").done()
    assert "create is not idempotent" in guess(evidence(reference, run, problem(END_STATE, "jobs default/web-c")))


def test_a_change_is_not_idempotent() -> None:
    """A change of the current value that is made again after a lost answer is not idempotent."""
    counts = [{"spec": {"count": number}} for number in range(4)]
    reference = one_job().write("create", JOB, counts[1]).write("patch", JOB, counts[2]).done()
    run = one_job(f"answer-lost patch {JOB}#1").write("create", JOB, counts[1]).fault()
    run.write("patch", JOB, counts[2], status=0, has_effect=True).done("Lost").begin()
    run.write("patch", JOB, counts[3]).done()
    assert guess(evidence(reference, run, problem(END_STATE, JOB))) == (
        "a change is not idempotent: after the lost answer, spec.count of Job default/web was changed once more, from "
        "2 to 3; compute the new value from the parent, not from the current value"
    )


def test_the_only_record_is_in_the_status() -> None:
    """A second object after a status write that failed is a name that only the status has."""
    reference = one_job().write("create", "jobs default/web-a", generate="web-")
    reference.write("patch", f"podsets/status {PARENT.split()[1]}", {"status": {"job": "web-a"}}).done()
    run = one_job("conflict patch podsets/status default/web#1").write("create", "jobs default/web-a", generate="web-")
    run.write("patch", "podsets/status default/web", {"status": {"job": "web-a"}}, status=409, reason="Conflict")
    run.fault().done("Conflict").begin().write("create", "jobs default/web-c", generate="web-")
    run.write("patch", "podsets/status default/web", {"status": {"job": "web-c"}}).done()
    text = guess(evidence(reference, run, problem(END_STATE, "jobs default/web-c")))
    assert text.startswith("the only record is in the status: after the conflict, the status of PodSet default/web did")


def test_memory_of_what_was_made_is_lost() -> None:
    """A second object after a crash at rest is memory of the process."""
    reference = one_job().write("create", "jobs default/web-a", generate="web-").done()
    run = one_job("crash step 1#1").write("create", "jobs default/web-a", generate="web-").done()
    run.fault().restart().begin().write("create", "jobs default/web-b", generate="web-").done()
    text = guess(evidence(reference, run, problem(END_STATE, "jobs default/web-b")))
    assert text.startswith("memory of the process is lost: after the restart a second Job was made, because only the")
    assert "Job default/web-a" in text


def test_a_value_in_memory_is_lost() -> None:
    """Another value after a crash at rest is memory of the process."""
    reference = one_job().write("update", PARENT, {"status": {"restarts": 3}}).done()
    run = (
        one_job("crash step 1#1").fault().restart().begin().write("update", PARENT, {"status": {"restarts": 1}}).done()
    )
    assert guess(evidence(reference, run, problem(END_STATE, PARENT))).startswith(
        "memory of the process is lost: after the restart, status.restarts of PodSet default/web is 1 instead of 3; "
    )


def test_create_on_an_old_view() -> None:
    """A second object while an event was delayed is a create that relies on the cache."""
    reference = one_job().write("create", "jobs default/web-a", generate="web-").done()
    run = one_job("delay event jobs default/web-* ADDED#1 by 30").write("create", "jobs default/web-a", generate="web-")
    run.fault().done().begin().write("create", "jobs default/web-b", generate="web-").done()
    text = guess(evidence(reference, run, problem(END_STATE, "jobs default/web-b")))
    assert text.startswith("create relies on a cache that may be behind: after the delayed event, the cache did not")


def test_a_write_only_follows_another_one() -> None:
    """What is made only beside another object is lost in a crash between the two."""
    run = one_job(f"crash-after create {JOB}#1").write("create", JOB).fault().restart().begin().done()
    text = guess(evidence(two_writes(), run, problem(END_STATE, "configmaps default/web")))
    assert text == (
        "a write is made only together with another one: create ConfigMap default/web only follows create Job "
        "default/web in the same reconcile, and was never made after the crash between them; check for each object "
        "separately in every reconcile"
    )


def test_a_crash_between_two_awaits() -> None:
    """A crash that is no write's is located by the last write of the reconcile that it cuts off."""
    run = one_job("crash handle operator-1#9").write("create", JOB).fault().restart().begin().done()
    text = guess(evidence(two_writes(), run, problem(END_STATE, "configmaps default/web")))
    assert text.startswith("a write is made only together with another one: create ConfigMap default/web only follows")


def test_a_refused_write_only_follows_another_one() -> None:
    """The second write is lost also if it was refused, and the retry finds the first object."""
    run = one_job("internal-error create configmaps default/web#1").write("create", JOB)
    run.write("create", "configmaps default/web", status=500, reason="InternalError").fault()
    run.done("InternalError").begin().done()
    text = guess(evidence(two_writes(), run, problem(END_STATE, "configmaps default/web")))
    assert text.startswith("a write is made only together with another one: create ConfigMap default/web only follows")


def test_an_error_is_swallowed() -> None:
    """A write that was refused, and not tried again by a reconcile without errors, is a swallowed error."""
    run = one_job(f"internal-error create {JOB}#1").write("create", JOB, status=500, reason="InternalError").fault()
    run.done()
    reference = one_job().write("create", JOB).done()
    assert guess(evidence(reference, run, problem(END_STATE, JOB))) == (
        "an error is swallowed: after the answer 500, the reconcile ended without an error, and create Job default/web "
        "was never tried again; let the exception leave reconcile, so that it is retried with backoff"
    )


def test_alreadyexists_is_ignored() -> None:
    """An object that is missing after AlreadyExists was not created when its name became free."""
    reference = one_job().write("create", JOB).done()
    run = one_job(f"replace-child step 1#1 by {JOB}").write("create", JOB).done()
    run.fault().begin().write("create", JOB, status=409, reason="AlreadyExists").done().cluster("DELETED", JOB)
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith("AlreadyExists is ignored: after the replacement of the child, create Job default/web was")


def test_alreadyexists_is_taken_for_success() -> None:
    """A write to a foreign object after AlreadyExists is its adoption."""
    reference = one_job().write("create", JOB).done()
    run = one_job(f"replace-child step 1#1 by {JOB}").write("create", JOB).done().fault()
    run.begin().write("create", JOB, status=409, reason="AlreadyExists").write("patch", JOB, {"spec": {}}).done()
    text = guess(evidence(reference, run, problem(ProblemKind.FOREIGN, JOB)))
    assert text.startswith("AlreadyExists is taken for success: create Job default/web was answered with AlreadyExists")


def test_a_foreign_object_is_adopted() -> None:
    """A write to a foreign object without AlreadyExists is an adoption by name."""
    run = one_job(f"replace-child step 1#1 by {JOB}").write("create", JOB).done().fault()
    run.begin().write("patch", JOB, {"spec": {}}).done()
    text = guess(evidence(one_job().write("create", JOB).done(), run, problem(ProblemKind.FOREIGN, JOB)))
    assert text.startswith("a foreign object is adopted: Job default/web belongs to someone else")


def test_a_foreign_object_is_deleted() -> None:
    """A deletion of a foreign object is named before everything else."""
    run = one_job(f"replace-child step 1#1 by {JOB}").write("create", JOB).done().fault()
    run.begin().write("delete", JOB).done()
    text = guess(evidence(one_job().write("create", JOB).done(), run, problem(ProblemKind.FOREIGN, JOB)))
    assert text.startswith("a foreign object is deleted: Job default/web was deleted, although someone else had")


def test_an_owner_reference_is_missing() -> None:
    """An orphan that was created without an owner reference lacks it."""
    run = one_job().write("create", JOB, {"spec": {}}).done().user("delete", PARENT)
    text = guess(evidence(run, run, problem(ProblemKind.ORPHAN, JOB)))
    assert text.startswith("an owner reference is missing: Job default/web was created without one")


def test_a_child_of_the_old_parent_is_kept() -> None:
    """An owner reference with the uid of a deleted parent is named after a recreation."""
    reference = one_job().write("create", JOB, owned("uid-11")).done()
    run = one_job(f"recreate-parent step 1#1 by {PARENT}").write("create", JOB, owned("uid-11")).done().fault()
    run.user("delete", PARENT).user("create", PARENT).begin().done()
    text = guess(evidence(reference, run, problem(ProblemKind.ORPHAN, JOB)))
    assert text.startswith("a child of the old parent is kept: Job default/web is taken for the child of PodSet web")


def test_a_child_of_the_old_parent_is_collected() -> None:
    """A child that is deleted with the old parent, and is not made again, is the same mistake."""
    reference = one_job().write("create", JOB, owned("uid-11")).done()
    run = one_job(f"recreate-parent step 1#1 by {PARENT}").write("create", JOB, owned("uid-11")).done().fault()
    run.user("delete", PARENT).user("create", PARENT).begin().done().cluster("DELETED", JOB)
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith("a child of the old parent is kept: Job default/web of the deleted parent was taken for")


def test_a_recreated_parent_is_taken_for_the_old_one() -> None:
    """An external call that is not made for the recreated parent was remembered by name."""
    reference = one_job().call("Dns.put('web')").done().user("delete", PARENT).user("create", PARENT)
    reference.begin().call("Dns.put('web')").done()
    run = one_job(f"recreate-parent step#1 by {PARENT}").call("Dns.put('web')").done().fault()
    run.user("delete", PARENT).user("create", PARENT).begin().call("Dns.delete('web')").done()
    text = guess(evidence(reference, run, problem(END_STATE)))
    assert text.startswith("a recreated parent is taken for the old one: Dns.put('web') was not made for the new one")


def held(schedule: str = "") -> Script:
    """Return a run in which the parent gets a finalizer before a call."""
    run = one_job(schedule).write("update", PARENT, {"metadata": {"finalizers": ["a/b"]}})
    run.call("Buckets.create('web')").done()
    return run


def test_a_finalizer_is_never_removed() -> None:
    """A deleted object that keeps its finalizer is named."""
    deleted = {"metadata": {"finalizers": ["a/b"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    run = held("call-fails call Buckets.delete#1").user("update", PARENT, deleted).begin()
    run.call("Buckets.delete('web')", effects=0, error="OSError").fault().done("OSError")
    text = guess(evidence(held().user("delete", PARENT), run, problem(ProblemKind.FINALIZER, PARENT)))
    assert text.startswith("a finalizer is never removed: after the failed call, PodSet default/web is never deleted")


def test_a_finalizer_is_removed_too_early() -> None:
    """A finalizer that is removed after a failed call is removed too early."""
    run = held("call-fails call Buckets.delete#1").begin()
    run.call("Buckets.delete('web')", effects=0, error="OSError").fault()
    run.write("update", PARENT, {"metadata": {"finalizers": []}}).done().user("delete", PARENT)
    run.externals = {"Buckets": {"names": ["web"]}}
    reference = held().begin().call("Buckets.delete('web')").write("update", PARENT, {}).done().user("delete", PARENT)
    reference.externals = {"Buckets": {"names": []}}
    text = guess(evidence(reference, run, problem(ProblemKind.FINALIZER, PARENT)))
    assert text.startswith("the finalizer is removed too early: PodSet default/web lost its finalizer although")


def test_a_finalizer_is_added_too_late() -> None:
    """A call before the finalizer is stored leaves something behind when the object is deleted meanwhile."""
    run = one_job("crash-before update podsets default/web#1").call("Buckets.create('web')").fault()
    run.user("delete", PARENT).restart()
    run.externals = {"Buckets": {"names": ["web"]}}
    reference = held().begin().call("Buckets.delete('web')").write("update", PARENT, {}).done().user("delete", PARENT)
    reference.externals = {"Buckets": {"names": []}}
    text = guess(evidence(reference, run, problem(END_STATE)))
    assert text.startswith(
        "the finalizer is added too late: Buckets.create('web') took effect before PodSet default/web"
    )


def test_an_external_call_is_not_idempotent() -> None:
    """A call that is made again after a lost answer, with another result, is not idempotent."""
    reference = one_job().call("Buckets.create()").done()
    reference.externals = {"Buckets": {"number": 1}}
    run = one_job("answer-lost call Buckets.create#1").call("Buckets.create()", error="OSError").fault().done("OSError")
    run.begin().call("Buckets.create()").done()
    run.externals = {"Buckets": {"number": 2}}
    assert guess(evidence(reference, run, problem(END_STATE))).startswith(
        "an external call is not idempotent: after the lost answer, Buckets.create() was made again, and took effect "
        "twice; "
    )


def test_drift_is_not_noticed() -> None:
    """A child that is deleted without a reconcile afterwards is not watched."""
    reference = one_job().write("create", JOB).done()
    run = one_job(f"delete-child step 1#1 by {JOB}").write("create", JOB).done().fault().cluster("DELETED", JOB)
    assert guess(evidence(reference, run, problem(END_STATE, JOB))) == (
        "drift is not noticed: nothing was reconciled after Job default/web was deleted; watch the child: add its kind "
        "to `owns`"
    )


def test_a_restored_backup_is_not_noticed() -> None:
    """A child that a restored backup does not have, and that is not made again, is drift."""
    reference = one_job().write("create", JOB).done()
    run = one_job("restore-backup step#1").write("create", JOB).done().fault().cluster("DELETED", JOB).begin().done()
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith("drift is not repaired: Job default/web was taken back by the restore of a backup, and the")


def test_drift_is_not_repaired() -> None:
    """A child that stays changed in spite of a reconcile is not compared."""
    reference = one_job().write("create", JOB, {"spec": {"size": 1}}).done()
    run = one_job(f"change-child step 1#1 by {JOB}").write("create", JOB, {"spec": {"size": 1}}).done().fault()
    run.cluster("MODIFIED", JOB, {"spec": {"size": 9}}, by="world").begin().done()
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith("drift is not repaired: Job default/web was changed, and the reconciles after it did not")


def test_an_update_is_lost() -> None:
    """A write without a resourceVersion that takes back a change of the user is named with the field."""
    wanted = {"spec": {"size": 2}, "status": {"ready": True}}
    reference = one_job().user("update", PARENT, {"spec": {"size": 2}}).write("update", PARENT, wanted).done()
    run = Script("delay event podsets default/web MODIFIED#1 by 5").user("create", PARENT, {"spec": {"size": 1}})
    run.user("update", PARENT, {"spec": {"size": 2}}).fault().begin()
    run.write("update", PARENT, {"spec": {"size": 1}, "status": {"ready": True}}).done()
    assert guess(evidence(reference, run, problem(END_STATE, PARENT))).startswith(
        "an update of someone else is lost: update of PodSet default/web, without a resourceVersion, took back what "
        "someone else had written to .spec.size; "
    )


def test_a_hidden_deletion() -> None:
    """A deletion that was hidden, and had no consequence, is an operator that acts on deletion events."""
    reference = one_job().write("create", JOB).done().begin().write("delete", JOB).done()
    run = one_job(f"hide event {PARENT} DELETED#1").write("create", JOB).done().fault().begin().done()
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith("the operator acts on deletion events: after the missed event, the operator did not notice")
    assert "delete Job default/web never followed" in text


def test_an_intermediate_state_is_missed() -> None:
    """A merged change that had a consequence in the reference is a state in between that the operator needs."""
    reference = one_job().begin().write("create", JOB).done()
    run = one_job(f"coalesce event {PARENT} MODIFIED#1").fault().begin().done()
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith("the operator needs every intermediate state: the operator saw podsets default/web only")


def test_notfound_is_taken_for_a_deletion() -> None:
    """A deletion by an operator whose cache was behind is a stale NotFound."""
    reference = one_job().write("create", JOB).done()
    run = one_job("stale reconcile podset default/web#2 by 30").write("create", JOB).done().fault()
    run.begin().write("delete", JOB).done()
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith("a stale NotFound is taken for a deletion: with a stale cache, the operator")


def test_a_delete_has_no_precondition() -> None:
    """A deletion after time travel without a uid is a delete without a precondition."""
    reference = one_job().write("create", JOB).done()
    run = one_job("time-travel step 1#1").write("create", JOB).done().fault().restart()
    run.begin().write("delete", JOB).done()
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith("a delete has no precondition: after a restart with a stale cache, the operator")


def test_duplicates_are_removed_by_their_order() -> None:
    """All of several equal objects are deleted when each reconcile keeps another one."""
    reference = one_job().write("create", "jobs default/web-a", generate="web-").done()
    run = one_job("crash-during create jobs default/web-*#1").write("create", "jobs default/web-a", generate="web-")
    run.fault().restart().begin().write("create", "jobs default/web-b", generate="web-")
    run.write("delete", "jobs default/web-a").done().begin().write("delete", "jobs default/web-b").done()
    text = guess(evidence(reference, run, problem(END_STATE, "jobs default/web-a")))
    assert text.startswith("duplicates are removed by their order in a list: after the lost answer, Job default/web-")


def test_the_wall_clock() -> None:
    """A failure after a jump of the clock depends on the clock."""
    run = one_job("jump-clock step 1#1 by -3600").fault().begin().done()
    text = guess(evidence(one_job().write("create", JOB).done(), run, problem(END_STATE, JOB)))
    assert text.startswith("the result depends on the wall clock: after the clock had jumped by -3600 s, create Job")


def test_a_write_by_a_replica_that_does_not_lead() -> None:
    """A write that the oracle attributes to a replica without the Lease is named."""
    run = one_job(f"lose-leadership create {JOB}#1").fault().write("create", JOB, leads=False).done()
    text = guess(evidence(one_job().write("create", JOB), run, problem(ProblemKind.NOT_LEADING, JOB)))
    assert text.startswith(
        "a replica wrote that does not lead: after the loss of the Lease, operator-1 sent create Job"
    )


def test_an_access_is_not_declared() -> None:
    """The access that is not declared is named."""
    run = one_job()
    text = guess(evidence(run, run, problem(ProblemKind.UNDECLARED), undeclared=("delete jobs",)))
    assert text == "an access is not declared: delete jobs; add it to `rbac` of the reconciler, with allow(…)"


def status_writes(*values: object) -> Script:
    """Return a run that writes these values to a status in the time of quiet."""
    run = one_job().done().wait(60).quiet()
    for value in values:
        run.begin().write("patch", "podsets/status default/web", {"status": {"seen": value}}).done()
    return run


def test_a_timestamp_makes_a_loop() -> None:
    """Writes that differ in a time only are a loop by a timestamp."""
    run = status_writes(*(f"2026-01-01T00:00:0{second}Z" for second in range(5)))
    text = guess(evidence(one_job(), run, problem(ProblemKind.NOT_QUIET, PARENT)))
    assert text.startswith("a time in an object makes a loop: every reconcile writes another time to status.seen of")


def test_two_values_take_turns() -> None:
    """Writes of two values in turn are an oscillation."""
    run = status_writes(*(["a", "b"], ["b", "a"]) * 3)
    text = guess(evidence(one_job(), run, problem(ProblemKind.NOT_QUIET, PARENT)))
    assert text.startswith("two values take turns: PodSet default/web gets two values in turn, 6 times in the time of")


def test_the_operator_wakes_itself() -> None:
    """Writes of the same, or of a counter, are a hot loop."""
    text = guess(evidence(one_job(), status_writes(1, 2, 3, 4), problem(ProblemKind.NOT_QUIET, PARENT)))
    assert text.startswith("the operator wakes itself: PodSet default/web was written 4 times in the time of quiet")


def test_an_error_never_goes_away() -> None:
    """A reconcile that fails every time is named with its error."""
    run = one_job().done().wait(60).quiet().begin().done("KeyError: 'x'").begin().done("KeyError: 'x'")
    text = guess(evidence(one_job(), run, problem(ProblemKind.NOT_QUIET, PARENT)))
    assert text.startswith("an error never goes away: reconcile default/web fails again and again with KeyError: 'x'")


def test_create_does_not_expect_its_object() -> None:
    """An operator that fails with AlreadyExists of its own object forever is named."""
    reference = one_job().write("create", JOB).write("create", "services default/web").done()
    run = one_job(f"answer-lost create {JOB}#1").write("create", JOB, status=0, has_effect=True).fault().done("Lost")
    for _ in range(3):
        run.begin().write("create", JOB, status=409, reason="AlreadyExists").done("AlreadyExists")
    text = guess(evidence(reference, run, problem(END_STATE, "services default/web")))
    assert text.startswith(
        "create does not expect that its object exists: after the lost answer, Job default/web exists"
    )


def test_apply_gives_way() -> None:
    """An apply that conflicts each time needs to be forced."""
    answer = {"kind": "Status", "message": 'Apply failed with 1 conflict: conflict with "kubectl": .spec.size'}
    reference = one_job().write("apply", JOB).done()
    run = one_job(f"change-child step#1 by {JOB}").write("apply", JOB).done().fault()
    for _ in range(3):
        run.begin().write("apply", JOB, status=409, reason="Conflict", answer=answer).done("Conflict")
    text = guess(evidence(reference, run, problem(END_STATE, JOB)))
    assert text.startswith(
        "apply gives way to another field manager: after the change of the child, apply Job default/w"
    )
    assert text.endswith("; apply with force=True: the fields that a controller applies are its own")


def test_a_pattern_in_plain_words() -> None:
    """Without a certain class, the guess says what never followed, or what was done in addition."""
    reference = one_job().write("create", JOB).done().user("update", PARENT).begin().write("update", JOB).done()
    run = one_job("tear step 1#1").write("create", JOB).done().fault().begin().done()
    wrong = problem(END_STATE, "services default/web")
    assert guess(evidence(one_job(), one_job(), wrong)) == ""
    run.schedule = reference.schedule
    assert "update Job default/web never followed" in guess(evidence(reference, run, wrong))
    more = one_job("restart-server step 1#1").fault().write("update", PARENT).done()
    assert guess(evidence(one_job(), more, wrong)) == (
        "something is done that is not needed: after the restart of the API server, the operator also made update "
        "PodSet default/web, which it does not do without it"
    )
