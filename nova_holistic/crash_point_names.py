# SPDX-License-Identifier: Apache-2.0
"""The names of the points at which a process can be killed in tests."""

from collections.abc import Mapping

POINTS: Mapping[str, str] = {
    # The API
    'api.group-created':
        'A new group is in the table, and no engine has a message of it.',
    'api.right-granted': 'A trust of the user exists, and no group names it.',
    'api.plan-created':
        'A dry run is in the table, and no engine has a message of it.',
    'api.task-asked':
        'A group has a new task, and no engine has a message of it.',
    # Tasks of an engine
    'task.taken': 'A task belongs to this engine.',
    'task.plan-taken': 'A dry run belongs to this engine.',
    'task.alternates-taken': 'This engine finds alternates for a group.',
    'alternates.found':
        'Alternates are found, and the members do not have them yet.',
    'task.settled':
        'The status of the group is right, and the task is not finished.',
    'task.undone':
        'An update that is given up is undone, and its task is not finished.',
    # Creation of servers by an engine
    'boot.taken': 'The creation of the servers of a group belongs to this '
                  'engine.',
    'boot.begun': 'The table names the servers to create.',
    'boot.server-written':
        'The row of a server is written: before the create request, with its '
        'UUID, or with its result.',
    'boot.server-created':
        'Nova has accepted a create request, and no row names the server.',
    'boot.server-deleted':
        'Nova deletes a server of the group, and its row still names it.',
    'boot.group-released':
        'All created servers are deleted and the group is released, and the '
        'rollback is not finished.',
    'boot.status-written':
        'The table states the result of the creation, or that the rollback '
        'begins.',
    'boot.right-deleted':
        'The trust of the user is deleted, and the table still contains it.',
    'boot.closed': 'No engine takes the creation again.',
    # Creation of volumes by an engine
    'volume.row-written': 'The row states what an engine does next.',
    'volume.created': 'Cinder creates a volume that no row names.',
    'volume.deleted': 'Cinder deletes a volume, and its row names it.',
    'volume.pool-given-up': 'The member is lost, planned or released.',
    # Periodic tasks of an engine, and its stop
    'round.taken': 'A periodic task belongs to this engine.',
    'round.done': 'A periodic task is done, and still belongs to this engine.',
    'old.plans-deleted':
        'Old dry runs are deleted, and old statistics still exist.',
    'old.statistics-deleted':
        'Old statistics are deleted, and other old records still exist.',
    'old.deletions-forgotten':
        'Old deletions of groups are forgotten, and old events still exist.',
    'stop.work-returned':
        'An engine that stops has returned one kind of work.',
    # Create, replan and update
    'group.created': 'A group that is planned for a caller is in the table.',
    'create.planned':
        'A group is planned for a caller, and its members have no alternates.',
    'create.alternates-taken':
        'A caller finds alternates for the group that it has created.',
    'change.written':
        'The rows or the task name new holds, and none of them is put.',
    'holds.part-put':
        'One of several parts of the new holds is put, and the group does not '
        'count it yet.',
    'holds.part-noted':
        'The group counts one of several parts of the new holds.',
    'holds.members-moved':
        'After a refused part, rows name other places for some members, and '
        'their new holds are not put.',
    'holds.parts-undone':
        'The parts before a refused one are dropped, and the group still '
        'counts them.',
    'holds.undo-noted':
        'After a refused part, the group counts no holds, and rows or the '
        'task still name them.',
    'change.held': 'The new holds are put, and the table does not state it '
                   'yet.',
    'change.accepted':
        'The table states that the members can be claimed at their places.',
    'change.finished': 'Holds that no member needs are dropped.',
    'change.undone': 'A change that was not accepted is undone.',
    'undo.holds-dropped':
        'Holds of a refused change are dropped, and rows still name them.',
    'undo.room-restored':
        'Vacated members have their capacity again, and are still lost.',
    'undo.places-lost':
        'Vacated members cannot have their capacity again, and the new holds '
        'are dropped.',
    'recovery.started':
        'An engine continues the task of another, and has dropped nothing.',
    'recovery.finished':
        'An engine has dropped what another held for an unfinished task.',
    'update.room-noted':
        'The task names holds whose capacity the new holds will take.',
    'update.vacated':
        'Members that give up their capacity are lost, and still held.',
    'update.unneeded-dropped':
        'The group is updated and its old holds are dropped, and the task is '
        'not finished.',
    'replan.unneeded-dropped':
        'New holds of members that were released in the meantime are dropped, '
        'and rows still name them.',
    'replan.reasons-written':
        'Lost members are planned, and the group is not settled.',
    'failure.finished':
        'The table states that a group cannot be planned, and its rows are '
        'planned.',
    'failure.rows-released':
        'The rows of a group that cannot be planned are released.',
    'failure.holds-dropped':
        'The holds of a group that cannot be planned are dropped, and rows '
        'still name them.',
    # Release, end of a lease, delete
    'release.lease-ended': 'The lease has ended, and no row is released.',
    'release.rows-released':
        'Rows are released, and their holds still exist.',
    'release.settled':
        'A released group is settled, and its holds still exist.',
    'expire.rows-released':
        'Rows are released because the lease has passed.',
    'expire.settled':
        'A group whose lease has expired is settled, and its holds still '
        'exist.',
    'expire.group-finished': 'One group of several has expired completely.',
    'leftovers.dropped':
        'Unneeded holds are dropped, and rows still name them.',
    'delete.boot-stopped':
        'An engine that creates servers of the group has to stop.',
    'delete.task-interrupted': 'An update of the group cannot end any longer.',
    'delete.holds-dropped':
        'The holds of a group are dropped, and the group still exists.',
    'delete.update-dropped':
        'The holds of an unfinished update are dropped as well.',
    'delete.group-deleted': 'The group is deleted.',
    'holds.one-dropped': 'One of several holds is dropped.',
    'holds.part-dropped': 'One of several parts of the holds is dropped.',
    # The reconciler
    'reconcile.corrected': 'One of several members or groups is corrected.',
    'reconcile.settled': 'One of several groups is settled.',
    'abandon.given-up':
        'A group whose planner failed is in error, and its rows are planned.',
    'leftover.dropped':
        'An unneeded hold is dropped, and its row still names it.',
    'restore.row-held':
        'A row whose hold is missing states that it is held.',
    'restore.hold-put': 'The missing hold is written again.',
    'outage.given-up':
        'Hosts are noted as given up, and their members are planned.',
    'place.member-lost':
        'A planned member is lost, and its hold still exists.',
    'place.hold-dropped':
        'The hold is dropped, and the row still names it.',
    'positions.row-corrected': 'The row of one of several servers is right.',
    'return.row-held':
        'The row of a server that is gone states that it is held.',
    'return.room-taken':
        'The hold has the capacity of the server, and the row is claimed.',
    'return.released':
        'The lease has expired: the row is released, and its hold exists.',
    'return.released-dropped':
        'The hold of that row is dropped, and the row still names it.',
    'return.other-hold-dropped':
        'A hold at another place is dropped, and the row is claimed.',
    'return.outdated-dropped':
        'The hold of a redefined member is dropped, and its row is claimed.',
    'return.hold-put': 'The hold is put again, and the row is claimed.',
    'return.row-changed': 'The row no longer has a server.',
    'orphan.dropped': 'One of several holds without a row is dropped.',
    'drift.place-given-up': 'A planned member that is in the way is lost.',
    'drift.degraded': 'One of several groups is degraded.',
    'drift.recovered': 'One of several groups is no longer degraded.',
    # Repair
    'repair.moves-awaited':
        'No server of the group moves, and the repair has not begun.',
    'repair.place-given-up': 'A planned member that is in the way is lost.',
    'repair.move-begins': 'A live migration is about to be requested.',
    'repair.move-asked': 'Nova has begun a live migration.',
    'repair.waiting': 'The repair waits for the end of a live migration.',
    'repair.move-ended': 'One of several live migrations has ended.',
    # Actions after an update
    'action.row-corrected':
        'The row of a server states the requirements of the definition that '
        'the server meets; the actions are not written.',
    'action.list-written': 'The actions are in the table; none has begun.',
    'action.place-given-up': 'A planned member that is in the way is lost.',
    'action.started':
        'The table states that an action has begun, and Nova has no request.',
    'action.asked': 'Nova has begun a resize or a migration.',
    'action.waiting': 'An engine waits for the end of an action.',
    'action.confirmed':
        'Nova has the request to confirm a resize or a cold migration.',
    'action.position-written':
        'The server is at its destination, and its row states the former '
        'requirements.',
    'action.row-written':
        'The row of the server is right, and its action is not done.',
    'action.done': 'One of several actions is done.',
    'action.failure-noted':
        'An action has failed, and the task is not finished.',
    'action.continued':
        'An action that another engine began has ended in Nova, and the row '
        'of the server does not state it yet.',
    # Federation
    'federation.task-taken':
        'A group belongs to this parent, and no part of it is noted.',
    'federation.part-noted':
        'The table names a part, and no cloud has a request for it.',
    'federation.part-created':
        'A cloud has a part, and the table does not state it.',
    'federation.part-written':
        'The table states that a cloud has one of several parts.',
    'federation.part-extended':
        'A cloud has extended a lease, and the table does not state it.',
    'federation.part-undone':
        'A cloud has deleted a part, and the table still names it.',
    'federation.placed':
        'All parts exist with the requested lease, and the group has no '
        'members yet.',
    'federation.members-written':
        'The group has members, and its task is not finished.',
    'federation.change-noted':
        'The table states that a part may have another definition, and its '
        'cloud has no request yet.',
    'federation.part-changed':
        'A cloud has changed a part, and the group has its former '
        'definition.',
    'federation.update-committed':
        'All clouds have the members of the new definition, and the table '
        'has the former one.',
    'federation.update-written':
        'The table has the new definition, and clouds may still hold members '
        'that it does not contain.',
    'federation.released':
        'The clouds have released members, and the table does not state it.',
    'federation.parts-deleted':
        'The clouds have deleted all parts, and the group still exists.',
    # The scheduler
    'claim.plan-asked':
        'A group has to plan a further member; the create is not refused.',
    'claim.place-handed-over':
        'A held place has the path of a server that has not claimed it yet.',
    'claim.row-grown':
        'A row of a further member is in the table, and its server has no '
        'allocation.',
    'claim.allocation-dropped':
        'A refused server of a further member has no allocation any longer, '
        'and the member is still claimed.',
    'claim.shrunk':
        'A further member is released again; its group is not settled.',
    'claim.row-claimed':
        'The row names the server, and the hold still exists.',
    'claim.row-moved':
        'The row is at an alternate, and its old hold still exists.',
    'claim.hold-swapped':
        'The server has the capacity of the hold.',
    'claim.confirmed': 'The claim is complete, and Nova has no answer.',
    'claim.unswapped':
        'The hold has its capacity again, and the row is claimed.',
    'claim.undone': 'The row no longer names the server.',
    'claim.refusal-written':
        'The refusal is written, and the hold of the lost member exists.',
    'claim.lost-dropped':
        'The hold of the lost member is dropped, and its row still names it.',
    'claim.hold-checked':
        'A hold that is not needed after the undo is dropped.',
    'claim.one-undone': 'One of several claims is undone.',
    'evacuation.member-lost':
        'A member is lost, to free capacity for a server that is evacuated.',
    'evacuation.refusal-written':
        'The reason is written, and the hold of the lost member exists.',
    'evacuation.hold-dropped':
        'The hold of the lost member is dropped, and its row still names it.',
    'evacuation.place-given-up': 'One of several holds is given up.',
    'move.destination-written':
        'Nova has chosen a destination, the row names it, and Nova has no '
        'answer.',
    'move.allocations-restored':
        'The server has its former allocations again, and Nova has no other '
        'destination yet.',
    'built.row-changed':
        'The member of a server that was moved is built, and its group is '
        'not settled.',
    'built.group-settled': 'The group of one of several servers is settled.',
    # The scheduler of Cinder
    'cinder.row-claimed':
        'The row names the volume, and no pool is selected for it.',
    'cinder.request-sent':
        'The service of the planned pool has the request to create the '
        'volume.',
}
"""All points: name to the state in which the crash leaves the databases."""
